/**
 * The Worker of the benchmark `workers`: one enzyme that changes a cell.
 *
 * @module
 */
import { Enzyme } from "systole"
import { make } from "../../src/main/workers/index.ts"

const count = Enzyme.make({
  name: "count",
  query: "/signals/bench/count",
  bind: ["/data/bench"],
  writes: ["/data/bench/*"],
  run: (tx, { payload, target = "" }) => {
    const { n } = payload as { readonly n: number }
    const before = tx.get(target) as { readonly n: number } | undefined
    const value = { last: n, n: (before?.n ?? 0) + 1 }
    tx.set(target, value)
    return { out: value.n }
  }
})

const { Directory, Space, handler } = make({
  manifest: { "enzymes/count.ts": { module: count, hash: "0".repeat(64) } },
  config: { spaces: { create: "on-demand" } },
  public: true
})

export { Directory, Space }
export default handler
