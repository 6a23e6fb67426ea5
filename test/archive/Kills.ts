/**
 * The end of a process at a write of an import into SQLite.
 *
 * @module
 */
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Kernel, type SqlDriver } from "systole"
import { Imports, type ImportProgress } from "../../src/archive/Imports.ts"
import * as Arrived from "../../src/kernel/model/Arrived.ts"
import { hash } from "../frame/Frames.ts"
import { enzyme } from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { over } from "../simulation/Over.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Spaces from "./Spaces.ts"

/** The name of the new space. */
export const COPY = "copy"

/** A driver that tells each of its writes: before and after each transaction, before its commit, and after each statement in it. */
export const tellingWrites = (tell: () => void) => (driver: SqlDriver): SqlDriver =>
  over(driver, {
    prepare: (sql) => {
      const statement = driver.prepare(sql)
      return over(statement, {
        run: (...values) => {
          statement.run(...values)
          tell()
        }
      })
    },
    transaction: (body) => {
      tell()
      const result = driver.transaction(() => {
        const made = body()
        tell()
        return made
      })
      tell()
      return result
    }
  })

/** Runs a body over a kernel of its own, with its spaces in a folder. */
export const inFolder = <A, E>(
  folder: string,
  body: (kernel: Kernel["Service"]) => Effect.Effect<A, E>,
  around?: (driver: SqlDriver) => SqlDriver
): Effect.Effect<A> => {
  const layer = Layer.provideMerge(TestKernel.layer({}, SqliteFolder.layerIn(folder, 0, around)), TestClock.layer())
  return Effect.orDie(Effect.provide(Effect.flatMap(Kernel, body), Layer.fresh(layer)))
}

/** A frame with documents, one of them divided if a payload is "long", a journal, receipts and waiting signals. */
export const frameOf = (payloads: ReadonlyArray<string>): Effect.Effect<Uint8Array> => Effect.orDie(Effect.provide(
  Effect.gen(function*() {
    const space = yield* TestKernel.space([
      enzyme("put", (tx, { payload }) => {
        for (const n of [1, 2, 3]) tx.set(`/data/n/${n}`, [n, payload as string])
        if (payload === "long") tx.set("/data/long", "é".repeat(70_000))
        tx.signal({ signal: "/signals/put", payload: "later", at: { ms: 1_000_000_000 } })
      })
    ], "home")
    for (const payload of payloads) {
      yield* space.signal({ signal: "/signals/put", payload, id: `own-${payload.slice(0, 9)}` })
      yield* space.step
    }
    return yield* Spaces.frameOf(space)
  }),
  Layer.fresh(Layer.provideMerge(TestKernel.layer(), TestClock.layer()))
))

/** One of some 450 KB. */
export const frame = frameOf(["a", "long", "b"])

/** Sends a frame as a client does, a chunk at a time: it goes on where the answer says. */
export const send = (kernel: Kernel["Service"], frame: Uint8Array) =>
  Effect.gen(function*() {
    const imports = new Imports({ kernel, hash }, { fork: () => Effect.runFork(Effect.void), limit: () => 16 })
    const part = (from: number, bytes: Uint8Array) =>
      imports.take({ space: COPY, id: "abcdefgh", why: "copy", from, bytes: Stream.make(bytes) })
    let taken: ImportProgress = yield* part(0, new Uint8Array())
    while ("next" in taken) {
      const { next } = taken
      taken = yield* part(next, frame.subarray(Spaces.atChunk(frame, next), Spaces.atChunk(frame, next + 1)))
    }
    return taken
  })

/** The state of the new space after a restart: that of its records, or the code of a refusal. */
export const found = (kernel: Kernel["Service"]) =>
  Effect.matchEffect(kernel.space(COPY, { create: false }), {
    onFailure: ({ code }) => Effect.succeed(code),
    onSuccess: Spaces.stateOf
  })

/** Lets the time pass after which an import is given up. */
export const givenUp = TestClock.adjust(Arrived.GIVEN_UP + 1000)
