/**
 * The channel `s3`: objects in a bucket with the S3 protocol, as of AWS, Cloudflare R2 or MinIO.
 *
 * | opcode | payload | value |
 * |---|---|---|
 * | `s3_put` | `{ key, body }` or `{ key, content }`, with an optional `type` | `{ key, bytes, etag? }` |
 * | `s3_get` | `{ key, maxBytes? }` | `{ key, found, bytes, type?, etag?, body? }` or with `content` in place of `body` |
 * | `s3_head` | `{ key }` | `{ key, found, bytes?, type?, etag? }` |
 * | `s3_delete` | `{ key }` | `{ key }`, also for an absent key |
 * | `s3_presign` | `{ key, method, seconds }` | `{ key, url, until }`: a URL for `GET` or `PUT` and its last millisecond since 1970 |
 *
 * All are repeatable: a second execution with the same payload leaves the same state. `body` is a text or bytes; `content` is
 * an address of the space, `/cas/<sha256>`. A text of at most 64 KiB is returned as `body`, all else becomes content.
 *
 * An object beyond the 32 MiB of content never passes through a space: a client sends it to the URL of `s3_presign`, and the
 * space keeps its key. Each holder of the URL has the object, and the journal contains it, so keep `seconds` short.
 *
 * A space sees its own objects: the name of an object is the option `prefix`, the name of the space, `/` and the key. A key has at
 * most 512 bytes. A failure of the store is `s3/status`, with its status and code, retryable for 408, 425, 429 and from 500 on.
 *
 * Options:
 *
 * - `endpoint`: as `https://ACCOUNT.r2.cloudflarestorage.com`, which the channel may reach although it is private;
 * - `bucket`: the first segment of the path; without it the endpoint names the bucket, as `https://BUCKET.s3.amazonaws.com`;
 * - `region`: by default `auto`, as R2 calls it;
 * - `accessKeyId` and `secretAccessKey`: each `{ env: "VARIABLE" }` or `{ file: "path" }`;
 * - `prefix`: by default empty, at most 256 bytes without a segment `.` or `..`;
 * - `maxBytes`, `timeoutMs`, `jobs`, `ca`, `cert` and `key` as of the channel `http`.
 *
 * Requests are signed with AWS Signature Version 4, bodies included.
 *
 * @module
 */
import { Plugin } from "systole"
import * as ObjectChannel from "./s3/ObjectChannel.ts"

export default Plugin.make({
  name: "s3",
  version: "0.1.0",
  provides: { channels: { s3: (settings) => ObjectChannel.define(settings) } }
})
