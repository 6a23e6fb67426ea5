/**
 * The channel `http`: requests to servers of the Internet.
 *
 * The opcode `fetch` takes `{ url, method?, headers?, body?, redirect?, maxBytes?, expect? }` and returns
 * `{ status, headers, url, body?, content?, retryAfterMs? }`.
 *
 * - `body` of a request is a text, bytes, or the address of content, `/cas/<sha256>`.
 * - An answer with any status is a result. With `expect`, a list of statuses or `"2xx"`, any other status is the failure
 *   `http/status`, which is retryable for 408, 425, 429 and from 500 on.
 * - A status of 429 or 503 may ask for a wait with the header `Retry-After`, in seconds or as a date. With `expect`, the next
 *   attempt waits as long; otherwise `retryAfterMs` is the wait in milliseconds. Other values of the header ask for none.
 * - A body of text up to 64 KiB is `body`. Any other body is streamed into the content of the space, and `content` is its
 *   address. Beyond `maxBytes`, by default 32 MiB, the connection is closed: `http/size`.
 * - `redirect` is `"follow"` (at most 5), `"manual"` (the redirect is the result) or `"error"`. Another origin gets only
 *   harmless headers, so neither cookies nor credentials.
 * - An answer that leaves HTTP, with the status 101, is the failure `http/upgrade`.
 * - Each request has the header `Idempotency-Key`, equal in all attempts. So `fetch` is repeatable.
 *
 * Only public addresses are reachable; others are the failure `http/refused` unless `allow` has them. On Node, Deno and
 * Bun each address of a name is checked, and the connection goes to one of them. Workers resolve names themselves, so the
 * channel reaches only the names of `allow` there.
 *
 * The option `headers` has the credentials of an origin, so none stands in a payload or in the journal. Each item is
 * `{ origin, name, value, prefix? }`. The header is added to each request and each redirect to exactly this origin, also
 * after a redirect from another one. A payload with the same header for this origin is refused: `io/invalid`. A server
 * that returns the header puts it into the answer.
 *
 * Options:
 *
 * - `allow` and `deny`: lists of names, `*.` and a name, addresses, each also with `:` and a port, and networks;
 * - `maxBytes`: the largest body of an answer, at most 1 GiB;
 * - `timeoutMs`: the longest time of an attempt, by default 120,000 ms, at most 1 day;
 * - `jobs`: the most requests at once, by default 64;
 * - `maxRetryAfterMs`: the longest wait for which an answer can ask, by default 1 hour, at most 1 day; 0 ignores `Retry-After`;
 * - `headers`: at most 100; `origin` as `https://api.example.com`, `name`, `value` as `{ env: "VARIABLE" }` or
 *   `{ file: "path" }`, and `prefix` as `"Bearer "`; read at the start, at most 8,192 characters each;
 * - `ca`, `cert` and `key`: TLS in PEM, each `{ env: "VARIABLE" }` or `{ file: "path" }`. Workers have none of them.
 *
 * @module
 */
import { Plugin } from "systole"
import * as HttpChannel from "./http/HttpChannel.ts"

export default Plugin.make({
  name: "http",
  version: "0.1.0",
  provides: { channels: { http: (settings) => HttpChannel.define(settings) } }
})
