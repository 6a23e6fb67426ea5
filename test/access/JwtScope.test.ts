import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import * as Jwts from "../../src/main/composition/Jwts.ts"
import { problem, serve } from "../ingress/TestIngress.ts"
import { claims, key } from "./Issuer.ts"
import { make, settings } from "./TestJwts.ts"
import { make as makeTokens } from "./TestTokens.ts"

const first = await key("first")
const local = { keys: [{ ...first.jwk }] }
const START = Date.UTC(2026, 10, 27)

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: START }))
afterEach(() => void vi.useRealTimers())

const place = Enzyme.make({
  name: "place",
  query: "/signals/place",
  bind: ["/data"],
  target: "required",
  run: (tx, { payload, target }) => (tx.set(String(target), payload), "placed")
})

const fail = Enzyme.make({
  name: "fail",
  query: "/signals/fail",
  bind: ["/data"],
  run: () => {
    throw new Error("a secret of bob")
  }
})

describe("A JSON Web Token with a scope", () => {
  const config = {
    token: "the-operators-own-token", spaces: { create: "on-demand" as const }, labels: { cells: { "/data/staff/**": ["staff"] } }
  }
  const scoped = () => make(settings(local, {
    claims: ({ scope = "", sub }) => ({
      verbs: ["read", "signal"],
      spaces: ["shop"],
      scope: scope === "" ? `user:${sub}` : String(scope),
      clearance: sub === "bob" ? ["staff"] : []
    })
  }))

  it.live("knows what the space shares and the cells of its user, and sends signals there", () =>
    Effect.flatMap(serve({ config, enzymes: [place], tokens: makeTokens(), bearer: Jwts.shownTo(scoped().set) }), ({ ask, kernel }) =>
      Effect.promise(async () => {
        const space = await Effect.runPromise(kernel.space("shop"))
        const cells = { "/data/menu": 1, "/data/cart?scope=user:alice": 2, "/data/cart?scope=user:bob": 3, "/data/staff/pay": 4 }
        for (const [address, value] of Object.entries(cells)) await Effect.runPromise(space.set(address, value))
        const as = async (sub: string, path: string, init: RequestInit = {}) => {
          const authorization = `Bearer ${await first.sign(claims(START, { sub }))}`
          const answer = await ask(path, { ...init, headers: { authorization, "content-type": "application/json", prefer: "wait=5" } })
          return answer.status === 200 ? answer.body : problem(answer)[1]
        }
        const read = (sub: string) => Promise.all(Object.keys(cells).map((cell) => as(sub, `/v1/spaces/shop/cells${cell}`)))
        assert.deepStrictEqual(await read("alice"), [1, 2, "label/withheld", "label/withheld"])
        assert.deepStrictEqual(await read("bob"), [1, "label/withheld", 3, 4])
        const below = await as("alice", "/v1/spaces/shop/cells/data?below") as { readonly cells: ReadonlyArray<string> }
        assert.deepStrictEqual(below.cells, ["/data/cart?scope=user:alice", "/data/menu"])
        const send = (sub: string, target: string) => as(sub, "/v1/spaces/shop/signals", {
          method: "POST", body: JSON.stringify({ signal: "/signals/place", target, payload: 9 })
        })
        assert.strictEqual(await send("alice", "/data/cart?scope=user:bob"), "access/prefix")
        assert.deepInclude(await send("alice", "/data/cart?scope=user:alice"), { status: "handled" })
        assert.deepStrictEqual(await read("alice"), [1, 9, "label/withheld", "label/withheld"])
        assert.strictEqual(await as("alice", "/v1/spaces/shop/beats"), "access/clearance")
      })))

  it.live("is told no problem of the space, which may be one of another user", () =>
    Effect.flatMap(serve({ config, enzymes: [place, fail], tokens: makeTokens(), bearer: Jwts.shownTo(scoped().set) }), ({ ask, kernel }) =>
      Effect.promise(async () => {
        const space = await Effect.runPromise(kernel.space("shop"))
        await Effect.runPromise(space.signal({ signal: "/signals/fail", target: "/data/cart?scope=user:bob" }))
        await Effect.runPromise(space.idle)
        const authorization = `Bearer ${await first.sign(claims(START, { sub: "bob" }))}`
        const told = async (path: string, headers: Readonly<Record<string, string>>) => {
          const answer = await ask(`/v1/spaces/shop/cells${path}`, { headers })
          return answer.status === 200 ? answer.body : problem(answer)[1]
        }
        const root = { authorization: `Bearer ${config.token}` }
        const { cells: [fact] } = await told("/data/mailbox/diag/msgs?below", root) as { readonly cells: ReadonlyArray<string> }
        assert.include(JSON.stringify(await told(fact ?? "", root)), "run/dead")
        assert.strictEqual(await told(fact ?? "", { authorization }), "label/withheld")
        for (const folder of ["/data/mailbox/diag/msgs", "/data/mailbox", "/data"]) {
          assert.deepStrictEqual(await told(`${folder}?below`, { authorization }), { cells: [], next: null }, folder)
        }
      })))

  it("is refused with a scope that is none, or whose subject is no part of one", async () => {
    const scopes = ["space", "alice", "user:", "user:a#/b"].map((scope) => ({ scope }))
    const { code, told } = scoped()
    for (const other of [...scopes, { sub: "a b" }, { sub: "a?scope=user:b" }]) {
      assert.strictEqual(await code(await first.sign(claims(START, other))), "auth/jwt", JSON.stringify(other))
    }
    assert.match(told.join("\n"), /none of a user or a session\. Give it as user:42/)
  })
})
