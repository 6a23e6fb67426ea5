/**
 * The channel `webhook-out`: signed webhooks, as Standard Webhooks defines them.
 *
 * The opcode `send` takes `{ url, type?, data }` and posts `{ type, data }` as JSON, at most 1 MiB. Its headers are:
 *
 * - `webhook-id`: the idempotency key of the request, equal in all attempts, by which the receiver finds duplicates;
 * - `webhook-timestamp`: the seconds since 1970 of this attempt;
 * - `webhook-signature`: for each secret `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64.
 *
 * A status from 200 to 299 is the result `{ status }`. Redirects are not followed. Each other status is the failure
 * `webhook/status`, which is retryable for 408, 425, 429 and from 500 on; 410 is `webhook/gone`. The header `Retry-After` of 429 and
 * 503 delays the next attempt.
 *
 * Options: `secrets`, a list of `{ env: "VARIABLE" }` or `{ file: "path" }`, of which each has `whsec_` and 24 to 64 bytes
 * in base64. Several are for a rotation. The other options and the addresses are those of the channel `http`.
 *
 * @module
 */
import { Plugin } from "systole"
import * as WebhookChannel from "./webhook-out/WebhookChannel.ts"

export default Plugin.make({
  name: "webhook-out",
  version: "0.1.0",
  provides: { channels: { "webhook-out": (settings) => WebhookChannel.define(settings) } }
})
