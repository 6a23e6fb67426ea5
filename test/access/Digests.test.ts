import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { vi } from "vitest"
import { Rates } from "../../src/access/Rates.ts"
import * as Jwts from "../../src/main/composition/Jwts.ts"
import * as Inside from "../../src/main/workers/Inside.ts"
import type { Env } from "../../src/main/workers/Platform.ts"
import * as Router from "../../src/main/workers/Router.ts"
import { make as settingsOf } from "../../src/main/workers/Settings.ts"
import { Hash } from "../../src/persistence/Hash.ts"
import { hash } from "../../src/persistence/PureSha256.ts"
import { serve } from "../ingress/TestIngress.ts"
import { claims, key } from "./Issuer.ts"
import * as TestJwts from "./TestJwts.ts"
import { make } from "./TestTokens.ts"
import * as AccessTable from "../../src/access/AccessTable.ts"
import * as Withdrawn from "../../src/access/WithdrawnCredentials.ts"

const [ROOT, READER] = ["the-operators-own-token", "the-token-of-the-page"]
const issuer = await key("first")
const jwt = TestJwts.settings({ keys: [{ ...issuer.jwk }] })
const rate = { requests: 3, seconds: 3600 }
const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  access: { rates: { address: rate }, jwt },
  labels: { cells: { "/data/pay/**": ["salary"] }, readers: { web: { token: READER, clearance: [] } } }
}

const CELL = "/v1/spaces/shop/cells/data/a"
const zeros = "0".repeat(64)

/** Wrong credentials of each kind. */
const wrong: ReadonlyArray<Readonly<Record<string, string>>> = [
  { authorization: `Bearer ${"x".repeat(ROOT.length)}` },
  { authorization: `Bearer ${"x".repeat(5000)}` },
  { authorization: `Bearer sys_00000000_${"A".repeat(43)}` },
  { authorization: `Bearer syb.0123456789abcdef.zzzzzzzz.operator.${zeros}` },
  { authorization: `Bearer ${"a".repeat(4000)}.b.c` },
  { cookie: `__Host-systole=syc.0123456789abcdef.zzzzzzzz.operator.${zeros}` }
]

const digests = vi.spyOn(hash, "hex")

/** A host: the status of a read with some headers. */
type Ask = (headers: Readonly<Record<string, string>>) => Promise<number>

/** Sends wrong credentials beyond the rate of their address, and then the known ones. */
const flooded = async (ask: Ask, known: ReadonlyArray<Readonly<Record<string, string>>>): Promise<void> => {
  for (const shown of known) assert.include([200, 404], await ask(shown), JSON.stringify(Object.keys(shown)))
  for (let n = 0; n < rate.requests; n++) assert.strictEqual(await ask(wrong[0]!), 401)
  digests.mockClear()
  for (let n = 0; n < 200; n++) for (const shown of wrong) assert.strictEqual(await ask(shown), 429)
  assert.strictEqual(digests.mock.calls.length, 0)
  for (const shown of known) assert.include([200, 404], await ask(shown), "a known credential goes on")
  assert.strictEqual(await ask({ authorization: `Bearer ${await issuer.sign(claims(Date.now(), { sub: "bob" }))}` }), 429)
}

const bearerOf = (secret: string) => ({ authorization: `Bearer ${secret}` })

describe("An address beyond its rate", () => {
  beforeEach(() => void digests.mockClear())

  it.live("costs no digest on a server, and known credentials go on", () => Effect.gen(function*() {
    const tokens = make({ hash, clock: { now: Date.now() } })
    const rates = { rates: new Rates({ address: rate }, Date.now), addressOf: () => "192.0.2.1" }
    const bearer = Jwts.shownTo(TestJwts.make(jwt).set)
    const { fetch } = yield* serve({ config, tokens, bearer, rates, hash: Layer.succeed(Hash, hash) })
    yield* Effect.promise(async () => {
      const ask: Ask = async (headers) => (await fetch(CELL, { headers: { host: "shop.example", ...headers } })).status
      const begun = await fetch("/v1/session", { method: "POST", headers: { host: "shop.example", ...bearerOf(ROOT) } })
      const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? ""
      const good = await issuer.sign(claims(Date.now()))
      await flooded(ask, [bearerOf(ROOT), bearerOf(READER), bearerOf(await tokens.create({ verbs: ["read"] })), bearerOf(good), { cookie }])
    })
  }))

  it("costs no digest in front of the objects of a Worker, and known credentials go on", async () => {
    const unused = () => Promise.reject(new Error("not called"))
    const DIRECTORY = {
      tokens: async () => AccessTable.none, withdrawn: async () => Withdrawn.none, sessionKey: async () => "a random text", useToken: unused
    }
    const env = {
      SPACES: { getByName: () => ({ fetch: async () => new Response("object") }) }, DIRECTORY: { getByName: () => DIRECTORY }
    } as unknown as Env
    const settings = settingsOf({ manifest: {}, config }, env)
    const handle = Router.make({ gate: () => settings, inside: async () => Inside.open(settings, env) })
    const send = (path: string, init: RequestInit) => {
      const headers = { ...init.headers as Record<string, string>, "cf-connecting-ip": "192.0.2.1" }
      return handle(new Request(`https://shop.example${path}`, { ...init, headers }), env)
    }
    const ask: Ask = async (headers) => (await send(CELL, { headers })).status
    const begun = await send("/v1/session", { method: "POST", headers: bearerOf(ROOT) })
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? ""
    await flooded(ask, [bearerOf(ROOT), bearerOf(READER), bearerOf(await issuer.sign(claims(Date.now()))), { cookie }])
  })
})
