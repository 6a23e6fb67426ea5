/**
 * A Worker whose spaces keep large content in an R2 bucket.
 *
 * @module
 */
import bucket from "../../plugins/bucket.ts"
import { make } from "../../src/main/workers/index.ts"

const { Directory, Space, handler } = make({
  manifest: { "systole/plugins/bucket": { module: bucket, hash: "0".repeat(64) } },
  config: { spaces: { create: "on-demand" }, content: { use: "bucket", options: { binding: "CONTENT", prefix: "live/" } } }
})

export { Directory, Space }
export default handler
