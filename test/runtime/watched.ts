/**
 * A Worker with a reader and a cell to watch.
 *
 * @module
 */
import { Enzyme } from "systole"
import { make } from "../../src/main/workers/index.ts"
import { counted } from "./counted.ts"

const visit = Enzyme.make({
  name: "visit",
  query: "/signals/visit",
  writes: ["/data/visits"],
  run: (tx) => tx.increment("/data/visits")
})

const post = Enzyme.make({
  name: "post",
  query: "/signals/post",
  writes: ["/data/notice"],
  run: (tx, { payload }) => tx.set("/data/notice", String(payload).padEnd(60_000, "."))
})

/** The longest name of a reader, for whom the test asks. */
const READER = "r".repeat(63)

const worker = counted(make({
  manifest: {
    "enzymes/visit.ts": { module: visit, hash: "1".repeat(64) },
    "enzymes/post.ts": { module: post, hash: "2".repeat(64) }
  },
  config: {
    enzymes: ["enzymes"],
    spaces: { create: "on-demand" },
    labels: { cells: {}, readers: { [READER]: { token: "a-token-of-a-reader", clearance: [] } } }
  }
}))

export const { Directory, Space } = worker
export default worker.handler
