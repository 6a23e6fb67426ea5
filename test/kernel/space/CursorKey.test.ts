import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Kernel } from "systole"
import { CurrentCursorKey } from "../../../src/kernel/model/CursorKey.ts"
import { enzyme, steps } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"

/** A kernel whose host has a secret for each origin. */
const booted = (machine: RestartableKernel.RestartableKernel) =>
  machine.boot({ create: "explicit", boot: true }).pipe(Effect.provideService(CurrentCursorKey, (origin) => `secret of ${origin}`))

/** The first cursor of a reader, after some beats of the space. */
const cursorOf = (kernel: Kernel["Service"], beats: number, create = true) =>
  Effect.gen(function*() {
    const space = yield* kernel.space("shop", { create })
    yield* steps(space, beats)
    const [seen] = yield* Stream.runCollect(Stream.take(space.reader({ name: "guest", atoms: [] }).watch("/data/x"), 1))
    return seen?.cursor
  })

const machine = RestartableKernel.make([enzyme("none", () => {})])

describe("The cursor of a reader, with a secret of the host", () => {
  it.effect("is the same in each opening of a space", () => Effect.gen(function*() {
    const host = yield* machine
    const first = yield* cursorOf(yield* booted(host), 6)
    assert.strictEqual(yield* cursorOf(yield* booted(host), 0, false), first)
  }).pipe(Effect.scoped))

  it.effect.each([6, 0])("differs from those of a removed space with %d beats of that name", (beats) => Effect.gen(function*() {
    const kernel = yield* booted(yield* machine)
    const cursors = new Set<string | undefined>()
    for (let incarnation = 0; incarnation < 3; incarnation++) {
      cursors.add(yield* cursorOf(kernel, beats))
      yield* kernel.remove("shop")
    }
    assert.lengthOf([...cursors], 3)
    assert.notInclude([...cursors], undefined)
  }).pipe(Effect.scoped))
})
