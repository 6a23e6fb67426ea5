/**
 * The long form of the tests of bad frames: each byte of a frame of 64 KiB changed, each length, and each exchange of chunks.
 *
 * @module
 */
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Kernel } from "systole"
import { Imports } from "../../src/archive/Imports.ts"
import { hash } from "../frame/Frames.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as BadFrames from "./BadFrames.ts"
import * as Kills from "./Kills.ts"

/** The result: the frames that were offered, by their kind, and those that were taken, or left a space. */
export interface Tally {
  readonly kind: string
  readonly offered: number
  readonly failures: ReadonlyArray<string>
}

/** A frame of some 64 KiB, and another one. */
const frames = Effect.all([Kills.frameOf(["a", "x".repeat(8600), "b"]), Kills.frameOf(["a", "y".repeat(8600), "c"])])

/** Offers frames to a kernel in memory, as parts over HTTP. */
const offered = (kind: string, bad: Iterable<BadFrames.BadFrame>): Effect.Effect<Tally> =>
  Effect.gen(function*() {
    const kernel = yield* Kernel
    const failures: Array<string> = []
    let count = 0
    for (const { bytes, codes, name } of bad) {
      count++
      const imports = new Imports({ kernel, hash }, { fork: () => Effect.runFork(Effect.void), limit: () => 16 })
      const take = imports.take({ space: Kills.COPY, id: "abcdefgh", why: "copy", from: 0, bytes: Stream.make(bytes) })
      const code = yield* Effect.match(take, {
        onFailure: ({ code }) => String(code),
        onSuccess: (taken) => "root" in taken ? "taken" : "frame/unsealed"
      })
      if (!codes.some((expected) => expected === code)) failures.push(`${name}: ${code}`)
      // The sender of a part that ends early may go on, until it gives the import up.
      if (code === "frame/unsealed") yield* Effect.ignore(kernel.remove(Kills.COPY))
      const left = yield* kernel.spaces
      if (left.length > 0) failures.push(`${name}: it left ${left.join(", ")}`)
      yield* Effect.ignore(kernel.remove(Kills.COPY))
    }
    return { kind, offered: count, failures }
  }).pipe(
    Effect.orDie,
    Effect.provide(Layer.fresh(Layer.provideMerge(TestKernel.layer(), TestClock.layer())))
  )

/** Offers all of them. `told` hears of each kind when it is over. */
export const run = (told: (tally: Tally) => void): Effect.Effect<ReadonlyArray<Tally>> =>
  Effect.gen(function*() {
    const [frame, other] = yield* frames
    const all = Array.from(frame.keys())
    const beyond = yield* Effect.promise(() => BadFrames.beyond())
    const sealed = yield* Effect.promise(() => BadFrames.sealedAnew(frame))
    const kinds = [
      [`each byte of ${frame.length} changed`, BadFrames.flipped(frame, all)],
      ["each length", BadFrames.cut(frame, all)],
      ["chunks in another order", BadFrames.exchanged(frame, other)],
      ["beyond a limit", beyond],
      ["sealed anew", sealed]
    ] as const
    return yield* Effect.forEach(kinds, ([kind, bad]) => Effect.tap(offered(kind, bad), (tally) => Effect.sync(() => told(tally))))
  })
