/**
 * The content store `bucket`: content beyond 32 MiB, as objects in a bucket of R2, AWS, MinIO and others.
 *
 * A configuration selects it with `content: { use: "bucket", options: { … } }`. Options on Workers, with an R2 bucket:
 *
 * - `binding`: the name of the R2 binding, as of `r2_buckets` in the configuration of Wrangler;
 *
 * and everywhere else, with the S3 protocol:
 *
 * - `endpoint`, `bucket`, `region`, `accessKeyId`, `secretAccessKey`, `ca`, `cert` and `key` as of the channel `s3`.
 *
 * Both have:
 *
 * - `timeoutMs`: the longest time of one operation, by default 2 minutes; after it, the operation fails with `io/timeout`;
 * - `prefix`: the text before the names of objects, by default empty; at most 256 bytes;
 * - `maxBytes`: the most bytes of one content, by default 1 GiB and at most 32 GiB. Cloudflare bounds the body of a request, too.
 *
 * The objects below `<prefix><space>/` belong to the runtime alone: it deletes those that it does not know.
 *
 * @module
 */
import { Plugin } from "systole"
import * as R2Store from "./bucket/R2Store.ts"
import * as S3Store from "./bucket/S3Store.ts"

export default Plugin.make({
  name: "bucket",
  version: "0.1.0",
  provides: { content: (settings) => "binding" in settings.options ? R2Store.make(settings) : S3Store.make(settings) }
})
