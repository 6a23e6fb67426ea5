import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Rates } from "../../src/access/Rates.ts"
import type { Bearer } from "../../src/ingress/access/Access.ts"
import { serve } from "../ingress/TestIngress.ts"
import * as Trials from "../support/Trials.ts"
import { make } from "./TestTokens.ts"
import { config, nodes, put, scopesOfJwts, tell } from "./WorldModules.ts"
import * as Worlds from "./Worlds.ts"

const SEEDS = Trials.seeds(20)

const bearer: Bearer = ({ headers }) => {
  const name = headers.get("authorization")?.slice("Bearer ".length) ?? ""
  if (!Object.hasOwn(scopesOfJwts, name)) return undefined
  return { token: { id: "jwt:ada", created: 0, expires: 2 ** 50, digests: [], ...scopesOfJwts[name as keyof typeof scopesOfJwts] } }
}

/** Uses an application of its own. */
const using = <A>(tokens: ReturnType<typeof make>, use: (host: Worlds.Host) => Promise<A>) =>
  Effect.gen(function*() {
    const rate = { requests: 100, seconds: 60 }
    let now = 0
    // The rate is whole again before each request, because two worlds may have other numbers of pages.
    const rates = { rates: new Rates({ address: rate, credential: rate }, () => now += 60_000), addressOf: () => "192.0.2.1" }
    const { app, fetch } = yield* serve({ config, enzymes: [put, tell], nodes, tokens, bearer, rates })
    return yield* Effect.promise(() => use({ send: fetch, endpoints: app.table.endpoints }))
  }).pipe(Effect.scoped)

describe("Two worlds that differ in what a credential may not know have the same statuses, header fields and bodies for", () => {
  for (const [name, made] of Object.entries(Worlds.credentials)) {
    it.live(name, () => Effect.gen(function*() {
      const tokens = make()
      const credential = yield* using(tokens, (host) => made({ create: tokens.create, jwt: async (name) => name }, host))
      for (const seed of SEEDS) {
        const one = yield* using(tokens, (host) => Worlds.world({ host, credential, seed, isOther: false }))
        const other = yield* using(tokens, (host) => Worlds.world({ host, credential, seed, isOther: true }))
        Worlds.compare(one, other, `seed ${seed}`)
      }
    }), 60_000 * SEEDS.length)
  }
})
