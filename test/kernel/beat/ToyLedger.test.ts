import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Kernel } from "systole"
import { flows } from "../../../src/flow/Ledger.ts"
import { LedgerList } from "../../../src/ledger/LedgerList.ts"
import { defaults } from "../../../src/kernel/model/Limits.ts"
import { operations } from "../../../src/operation/Ledger.ts"
import { rendezvous } from "../../../src/rendezvous/Ledger.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, replays, steps } from "../TestSpace.ts"
import * as ToyLedger from "../../toy/Ledger.ts"

const keysOf = (payload: unknown): ReadonlyArray<string> => String(payload).split(" ")

const arm = enzyme("arm", (tx, { payload }) => keysOf(payload).forEach((key) => tx.toy.arm(key, 3)))
const ask = enzyme("ask", (tx, { payload }) => keysOf(payload).forEach((key) => tx.toy.ask(key)))
const rung = enzyme("rung", (tx, { payload, target = "" }) => {
  tx.append("/data/rung", [target, (payload as { readonly state: string }).state])
}, { bind: ["/net/toy"] })
const enzymes = [arm, ask, rung]

/** Runs a test in a kernel with the toy ledger behind those of the runtime. */
const withToy = <A, E>(test: (world: ToyLedger.World) => Effect.Effect<A, E, Kernel>) => {
  const world = new ToyLedger.World()
  const kernel = ToyLedger.kernel(rendezvous, flows, ToyLedger.make(world))
  return test(world).pipe(Effect.provide(TestKernel.layer({ limits: { ...defaults, finishedCount: 1 } }, undefined, { kernel })))
}

describe("A ledger added to the list", () => {
  it.effect("executes a command, returns its reply, and leaves no trace of a refused one", () => withToy(() =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      const command = (key: string, beats: number) => {
        const arm = { verb: "arm", key, beats }
        return space.control.command("toy", arm)
      }
      const done = yield* controlled(space, command("a", 3))
      assert.deepStrictEqual(done._tag === "Success" ? done.success : done.failure, { beat: 0, reply: "a" })
      const refused = yield* controlled(space, command("b", 0))
      assert.strictEqual(refused._tag === "Failure" ? refused.failure.code : undefined, "toy/refused")
      assert.isUndefined(yield* space.get("/net/toy/b"))
      const unknown = yield* Effect.flip(space.control.command("toy", { verb: "snooze" }))
      assert.strictEqual(unknown.code, "control/refused")
      yield* replays(space)
    })))

  it("needs a unique name, and a folder that users cannot write", () => {
    const toy = ToyLedger.make(new ToyLedger.World())
    assert.throws(() => new LedgerList([toy, toy]), "two ledgers have one name")
    assert.throws(() => new LedgerList([{ ...toy, folders: ["/data/toy"] }]), "where users write")
    const other = { ...toy, name: "other", folders: ["/net/other"], expiry: { ...toy.expiry!, kind: "other" } } as const
    assert.throws(() => new LedgerList([toy, { ...other, input: { ...toy.input!, field: "other" } }]), "have the place 4")
    const timers = { encode: (key: string) => key, decode: String }
    assert.throws(() => new LedgerList([operations, { ...toy, urgentTimers: timers }]), "urgent")
  })

  it.effect("serves runs, merges their launches, and rings in time", () => withToy(() =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      yield* space.signal({ signal: "/signals/arm", payload: "a" })
      yield* space.step
      yield* space.signal({ signal: "/signals/ask", payload: "a a" })
      yield* space.step
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "armed", asked: 2 })
      yield* steps(space, 3)
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "rung" })
      assert.deepStrictEqual(yield* space.get("/data/rung"), [["/net/toy/a", "rung"]])
      yield* replays(space)
    })))

  it.effect("captures the input of its live half once, and hands it outputs after the flush", () => withToy((world) =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      yield* space.signal({ signal: "/signals/arm", payload: "a b" })
      yield* space.step
      assert.deepStrictEqual([world.heard, world.events], [["a", "b"], ["resume "]])
      world.answer("a", "well")
      world.answer("a", "again")
      yield* steps(space, 2)
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "done", answer: "well" })
      assert.deepStrictEqual(yield* space.get("/data/rung"), [["/net/toy/a", "done"]])
      const captured = yield* Effect.forEach([0, 1, 2], (beat) =>
        Effect.map(space.journal(beat), (entry) => /\\?"toy\\?":/.test(JSON.stringify(entry))))
      assert.deepStrictEqual(captured, [false, true, false])
      yield* replays(space)
    })))

  it.effect("lets its finished records expire", () => withToy(() =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      for (const key of ["a", "b"]) {
        yield* space.signal({ signal: "/signals/arm", payload: key })
        yield* steps(space, 5)
      }
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.list("/net/toy"), ["b"])
      yield* replays(space)
    })))
})
