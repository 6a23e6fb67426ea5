/**
 * The Worker of the benchmark `workers`: one enzyme that changes a cell, and a chain of ten steps.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { Enzyme } from "systole"
import type { Slice } from "../../src/ingress/route/Slice.ts"
import type { Env } from "../../src/main/workers/index.ts"
import * as Inside from "../../src/main/workers/Inside.ts"
import * as Objects from "../../src/main/workers/Objects.ts"
import * as Settings from "../../src/main/workers/Settings.ts"
import * as Chain from "./Chain.ts"

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

/** The route of the chain, which the servers of other hosts have as well. */
const chain: Slice = {
  name: "chain",
  routes: ({ operator }, { kernel }) => {
    operator.post("/v1/spaces/:space/chain", async (c) =>
      Chain.answer(await Effect.runPromise(kernel.space(c.req.param("space"), { create: true })), c.req.raw))
  }
}

const hash = "0".repeat(64)
const parts: Settings.Parts = {
  manifest: { "enzymes/count.ts": { module: count, hash }, "enzymes/step.ts": { module: Chain.step(() => {}), hash } },
  config: { spaces: { create: "on-demand" } },
  public: true
}
let made: Settings.Settings | undefined
const settings = (env: Env): Settings.Settings => {
  if (made !== undefined) return made
  const all = Settings.make(parts, env)
  return made = { ...all, slices: [...all.slices, chain] }
}

const { Directory, Space, handler } = Objects.make({
  gate: settings,
  inside: async (env) => Inside.open(settings(env), env)
})

export { Directory, Space }
export default handler
