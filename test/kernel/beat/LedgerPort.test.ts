import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Fatal, type Kernel } from "systole"
import { flows } from "../../../src/flow/Ledger.ts"
import type { Ledger } from "../../../src/ledger/Ledger.ts"
import { LedgerList } from "../../../src/ledger/LedgerList.ts"
import { rendezvous } from "../../../src/rendezvous/Ledger.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, replays, steps } from "../TestSpace.ts"
import * as ToyLedger from "../../toy/Ledger.ts"

const toyIn = (world: ToyLedger.World): Ledger => ToyLedger.make(world)

/** Runs a test in a kernel with these ledgers. */
const within = <A, E>(ledgers: ReadonlyArray<Ledger>, test: Effect.Effect<A, E, Kernel>) =>
  test.pipe(Effect.provide(TestKernel.layer({}, undefined, { kernel: ToyLedger.kernel(...ledgers) })))

const armed = (beats: unknown): { readonly verb: string } => {
  const command = { verb: "arm", key: "a", beats }
  return command
}

const die = enzyme("die", () => new Fatal({ reason: "out of order" }), { onFatal: "continue" })

/** Flows that watch the documents of the toy ledger. */
const watching: Ledger = { ...flows, folders: [...flows.folders, "/net/toy"] }

describe("The port of ledgers", () => {
  it.effect("fires a timer once, even if its ledger ignores it", () =>
    within([{ ...toyIn(new ToyLedger.World()), atCapture: () => {} }], Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.control.command("toy", armed(2)))
      yield* steps(space, 4)
      const fired = yield* Effect.forEach([0, 1, 2, 3, 4], (beat) =>
        Effect.map(space.journal(beat), (entry) => /\\?"met\\?":/.test(JSON.stringify(entry))))
      assert.deepStrictEqual(fired, [false, false, true, false, false])
      yield* replays(space)
    })))

  it.effect("hands a timer to the owner of its documents, not to a watching ledger", () =>
    within([rendezvous, watching, toyIn(new ToyLedger.World())], Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.control.command("toy", armed(2)))
      yield* steps(space, 3)
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "rung" })
      yield* replays(space)
    })))

  it.effect("keeps captured input of an aborted beat for the next", () => {
    const world = new ToyLedger.World()
    return within([toyIn(world)], Effect.gen(function*() {
      const space = yield* TestKernel.space([die])
      yield* controlled(space, space.control.command("toy", armed(9)))
      world.answer("a", "well")
      yield* space.signal({ signal: "/signals/die" })
      yield* Effect.flip(space.step)
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "armed" })
      yield* space.step
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "done", answer: "well" })
      yield* replays(space)
    }))
  })

  it.effect("starts a beat for waiting input, and stops the live half with its space", () => {
    const world = new ToyLedger.World()
    const kernel = TestKernel.layer({ pace: "demand", tempo: 1000 }, undefined, { kernel: ToyLedger.kernel(toyIn(world)) })
    const answered = Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* space.control.command("toy", armed(9))
      yield* space.idle
      world.answer("a", "well")
      yield* space.idle
      assert.deepInclude(yield* space.get("/net/toy/a"), { state: "done", answer: "well" })
      assert.deepStrictEqual([world.heard, world.events], [["a"], ["resume "]])
    })
    return Effect.andThen(Effect.provide(answered, kernel), Effect.sync(() => {
      assert.deepStrictEqual(world.events, ["resume ", "stop"])
    }))
  })

  it.effect("executes a command as its journal line", () =>
    within([toyIn(new ToyLedger.World())], Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.control.command("toy", armed({ valueOf: () => 2 })))
      yield* replays(space)
    })))

  it("refuses lists with two ledgers of one folder, and folders that are too short", () => {
    const toy = toyIn(new ToyLedger.World())
    const other = { ...toy, name: "other" }
    assert.throws(() => new LedgerList([toy, other]), "two ledgers have their documents below /net/toy")
    const apart: Ledger = { ...other, folders: ["/net/other"] }
    assert.throws(() => new LedgerList([toy, apart]), "two ledgers capture input as toy")
    const { input: _, ...silent } = apart
    assert.throws(() => new LedgerList([toy, silent]), "two ledgers have finished records of the kind toy")
    assert.throws(() => new LedgerList([{ ...toy, folders: ["/net/x"] }]), "/net/x, which has under 7 characters")
  })
})
