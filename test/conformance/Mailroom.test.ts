import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Link, Mailroom, type Space, SystemGrants, type Transaction } from "systole"
import mrInit from "../../enzymes/mr_init.ts"
import mrRoute from "../../enzymes/mr_route.ts"
import { controlled, enzyme, handlingOf, steps } from "../kernel/TestSpace.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"

type Verbs = Readonly<Record<string, (tx: Transaction) => unknown>>

/** The enzymes of the mailroom, one that takes staged requests, and one that executes these functions. */
const enzymes = (verbs: Verbs, seen: Array<unknown> = []) => [
  mrInit,
  mrRoute,
  enzyme("inst_ing", (tx, { target }) => void seen.push([tx.beat, target]), { query: Mailroom.ADDED, bind: ["/data"] }),
  enzyme("do", (tx, { payload }) => present(verbs[payload as string])(tx), { query: "/signals/do" })
]

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(
    name,
    () => run().pipe(Effect.provide(TestKernel.layer()), Effect.provideService(SystemGrants, new Set(["mr_init", "mr_route", "do"])))
  )

const begin = (verbs: Verbs = {}, seen: Array<unknown> = []) => TestKernel.space(enzymes(verbs, seen))

/** Begins the mailroom. Returns its result. */
const boot = Effect.fnUntraced(function*(space: Space) {
  const { id } = yield* space.signal({ signal: "/CEP:sig_sys/init" })
  yield* space.step
  return (yield* handlingOf(space, id)).value
})

/** Puts a request into the lobby, and sends its signal. */
const put = Effect.fnUntraced(function*(space: Space, address: string) {
  const { id } = yield* space.signal({ signal: Mailroom.ADDED, target: address })
  yield* space.step
  return present(yield* space.receipt(id)).handlings.map(({ enzyme, outcome }) => `${enzyme} ${outcome}`)
})

const catalogue = (scopes: Readonly<Record<string, unknown>>) =>
  (tx: Transaction) => Object.entries(scopes).forEach(([scope, value]) => tx.set(`/sys/err_cat/${scope}`, value))

const buckets = (...names: ReadonlyArray<string>) => ({ mailroom: { buckets: Object.fromEntries(names.map((name) => [name, {}])) } })

const lobby = "/data/inbox/coh/be_create/r1"
const goal = "/data/coh/inbox/be_create/r1"

describe("E: mailroom", () => {
  test("E26 the buckets of the catalogue exist, and those of an added namespace exist at once", () =>
    Effect.gen(function*() {
      const space = yield* begin({
        catalogue: catalogue({ coh: buckets("be_create"), flow: buckets("inst_start") }),
        add: (tx) => Mailroom.addNamespace(tx, "bank", ["pay", "refund"]),
        more: (tx) => Mailroom.addNamespace(tx, "bank", ["close"])
      })
      yield* RendezvousSpace.ask(space, "catalogue")
      assert.isTrue(yield* boot(space))
      for (const [namespace, bucket] of [["coh", "be_create"], ["flow", "inst_start"]] as const) {
        assert.deepStrictEqual(
          [yield* space.list(`/data/inbox/${namespace}`), yield* space.list(`/data/${namespace}/inbox`)],
          [[bucket], [bucket]]
        )
      }
      yield* RendezvousSpace.ask(space, "add")
      assert.deepStrictEqual(yield* space.list("/data/inbox/bank"), ["pay", "refund"])
      yield* RendezvousSpace.ask(space, "more")
      assert.deepStrictEqual(yield* space.list("/data/bank/inbox"), ["close", "pay", "refund"])
      assert.deepStrictEqual(yield* space.get("/sys/err_cat/bank"), buckets("pay", "refund", "close") as never)
      assert.isTrue(yield* boot(space))
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E27 a request is staged whole in its layer's inbox, pending, and the lobby keeps a link to it", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const space = yield* begin({ write: (tx) => tx.set(lobby, { kind: "being", name: "ann" }) }, seen)
      yield* boot(space)
      yield* RendezvousSpace.ask(space, "write")
      assert.deepStrictEqual(yield* put(space, lobby), ["mr_route ok", "inst_ing ok"])
      const staged = {
        kind: "being",
        name: "ann",
        original: { kind: "being", name: "ann" },
        outcome: "pending",
        meta: { parents: [lobby], txn: { state: "committed" } }
      }
      assert.deepStrictEqual(yield* space.get(goal), staged as never)
      assert.deepStrictEqual(yield* space.get(lobby), staged as never)
      yield* space.step
      assert.deepStrictEqual(seen, [[2, lobby], [3, goal]])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E28 a request with a known name is not staged, and stays in the lobby", () =>
    Effect.gen(function*() {
      const space = yield* begin({
        both: (tx) => [tx.set(goal, { old: true }), tx.set(lobby, { old: false })],
        stage: (tx) => Mailroom.stage(tx, lobby),
        nowhere: (tx) => [Mailroom.stage(tx, "/data/inbox/coh/none/r1"), Mailroom.stage(tx, "/data/elsewhere")]
      })
      yield* boot(space)
      yield* RendezvousSpace.ask(space, "both")
      assert.isFalse(yield* RendezvousSpace.ask(space, "stage"))
      assert.deepStrictEqual([yield* space.get(lobby), yield* space.get(goal)], [{ old: false }, { old: true }] as never)
      assert.deepStrictEqual(yield* RendezvousSpace.ask(space, "nowhere"), [false, false])
    }))

  test("E29 a duplicate is removed from the lobby, and the first stays unchanged, also after two signals", () =>
    Effect.gen(function*() {
      const space = yield* begin({
        both: (tx) => [tx.set(goal, { old: true }), tx.set(lobby, { old: false })],
        write: (tx) => tx.set(`${lobby}0`, { n: 1 })
      })
      yield* boot(space)
      yield* RendezvousSpace.ask(space, "both")
      assert.deepStrictEqual(yield* put(space, lobby), ["mr_route ok", "inst_ing ok"])
      assert.deepStrictEqual([yield* space.get(lobby), yield* space.get(goal)], [undefined, { old: true }] as never)
      yield* RendezvousSpace.ask(space, "write")
      for (let i = 0; i < 3; i++) yield* put(space, `${lobby}0`)
      assert.deepInclude((yield* space.get(`${goal}0`)) as object, { n: 1 })
      assert.deepStrictEqual(yield* space.list("/data/inbox/coh/be_create"), [])
    }))

  test("E32 a staged name put into the lobby again is reported as a duplicate, and the staged request stays unchanged", () =>
    Effect.gen(function*() {
      const space = yield* begin({
        write: (tx) => tx.set(lobby, { name: "ann" }),
        again: (tx) => tx.set(lobby, { name: "bob", outcome: "none", meta: {} }),
        ingest: (tx) => tx.set(`${goal}#/outcome`, "taken"),
        field: (tx) => tx.set(`${lobby}#/outcome`, "none"),
        merge: (tx) => tx.merge(lobby, { outcome: "none" }),
        append: (tx) => tx.append(`${lobby}#/meta/parents`, "none"),
        through: (tx) => [tx.set("/data/other", Link.make(lobby)), tx.set("/data/other#/outcome", "none")]
      })
      yield* boot(space)
      yield* RendezvousSpace.ask(space, "write")
      yield* put(space, lobby)
      yield* RendezvousSpace.ask(space, "ingest")
      const staged = yield* space.get(goal)
      assert.deepInclude(staged as object, { name: "ann", outcome: "taken" })
      for (const verb of ["field", "merge", "append", "through"]) {
        assert.strictEqual(yield* RendezvousSpace.ask(space, verb), "mailroom/staged", verb)
      }
      yield* controlled(space, space.set(lobby, { name: "eve" }))
      assert.deepStrictEqual([yield* space.get(lobby), yield* space.get(goal)], [{ name: "eve" }, staged] as never)
      yield* RendezvousSpace.ask(space, "again")
      assert.deepStrictEqual(
        [yield* space.get(lobby), yield* space.get(goal)],
        [{ name: "bob", outcome: "none", meta: {} }, staged] as never
      )
      assert.deepStrictEqual(yield* put(space, lobby), ["mr_route ok", "inst_ing ok"])
      assert.deepStrictEqual([yield* space.get(lobby), yield* space.get(goal)], [undefined, staged] as never)
      const told = (yield* TestKernel.diagnostics(space)).filter(({ topic }) => topic === "mailroom/duplicate")
      assert.deepStrictEqual(told.map(({ note }) => note), [`${lobby} came before, and what lay there now is not staged`])
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("E30 a damaged catalogue is reported in one line with scope and issue, and an empty one means the defaults", () =>
    Effect.gen(function*() {
      const damaged = [
        [3, "scope-without-dictionary"],
        [{}, "missing-mailroom-node"],
        [{ mailroom: 1 }, "mailroom-node-not-dictionary"],
        [{ mailroom: {} }, "missing-mailroom-buckets"],
        [{ mailroom: { buckets: [] } }, "mailroom-buckets-not-dictionary"]
      ] as const
      const space = yield* begin(Object.fromEntries([
        ...damaged.map(([value], i) => [`bad${i}`, catalogue({ coh: buckets("be_create"), law: value })] as const),
        ["clear", (tx: Transaction) => [tx.delete("/sys/err_cat/coh"), tx.delete("/sys/err_cat/law")]]
      ]))
      for (const i of damaged.keys()) {
        yield* RendezvousSpace.ask(space, `bad${i}`)
        assert.isFalse(yield* boot(space))
      }
      const told = (yield* TestKernel.diagnostics(space)).map(({ note }) => note)
      assert.deepStrictEqual(told, damaged.map(([, issue]) => `mailroom.catalog scope=law issue=${issue}`) as never)
      assert.deepStrictEqual(yield* space.list("/data/inbox/coh"), [])
      yield* RendezvousSpace.ask(space, "clear")
      assert.isTrue(yield* boot(space))
      assert.deepStrictEqual(yield* space.list("/data/inbox/coh"), ["be_create", "bo_upsert", "ctx_upsert"])
      assert.deepStrictEqual(yield* space.list("/data/flow/inbox"), ["fl_upsert", "inst_ctrl", "inst_event", "inst_start", "ni_upsert"])
    }))

  test("E31 the router runs before the takers of requests, and ignores unknown cells", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const space = yield* begin(
        {
          write: (tx) =>
            [
              "/data/inbox/none/be_create/r1", "/data/inbox/coh/none/r1", "/data/inbox/coh/be_create/r1/deep", `${lobby}x`
            ].forEach((cell) => tx.set(cell, cell === `${lobby}x` ? 3 : { cell }))
        },
        seen
      )
      yield* boot(space)
      yield* RendezvousSpace.ask(space, "write")
      for (const cell of ["/data/inbox/none/be_create/r1", "/data/inbox/coh/none/r1", "/data/inbox/coh/be_create/r1/deep"]) {
        assert.deepStrictEqual(yield* put(space, cell), ["mr_route ok", "inst_ing ok"])
        assert.deepStrictEqual(yield* space.get(cell), { cell } as never)
      }
      assert.deepStrictEqual(yield* put(space, "/data/inbox/coh/be_create/absent"), ["mr_route ok", "inst_ing ok"])
      assert.deepStrictEqual(yield* put(space, `${lobby}x`), ["mr_route dead", "inst_ing ok"])
      assert.strictEqual(yield* space.get(`${lobby}x`), 3)
      assert.isUndefined(yield* space.get(`${goal}x`))
      yield* steps(space, 1)
    }))
})
