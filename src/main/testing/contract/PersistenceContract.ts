/**
 * The contract of persistence, for the author of a store: a list of tests, bound to no test runner.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Hash } from "../../../persistence/Hash.ts"
import { Persistence } from "../../../persistence/Persistence.ts"
import type { PersistenceError } from "../../../persistence/PersistenceError.ts"
import * as PureHash from "../../host/PureHash.ts"
import { same } from "./Check.ts"
import { beat, cell, reason, using, write } from "./Batches.ts"
import { blobs } from "./BlobContract.ts"
import { content, references } from "./ContentContract.ts"
import { busy, durability, type Hold } from "./DurabilityContract.ts"
import { formats } from "./FormatContract.ts"
import { arrival, pin } from "./PinContract.ts"
import { queue } from "./QueueContract.ts"
import { observations, reads, receipts } from "./ReadContract.ts"
import { retained } from "./RetentionContract.ts"
import * as Model from "./StoreModel.ts"
import type { Group } from "./StoreTest.ts"
import { moments, momentsApart, writers } from "./WriterContract.ts"

/** One test of the contract. `run` rejects where the store does not keep it. */
export interface ContractTest {
  readonly name: string
  readonly run: () => Promise<void>
}

/** The place in which a store keeps data, such as a folder or a durable object. */
export interface Place {
  /** Persistence over an empty place. It is built anew for each test, and its data lives as long as the layer. */
  readonly persistence: Layer.Layer<Persistence, PersistenceError, Hash>
  /** How many spaces a place holds. With `one`, tests that need several are left out. Default: `many`. */
  readonly spaces?: "one" | "many"
  /** Holds an open store for another writer until the scope closes. Without it, the test of a busy store is left out. */
  readonly hold?: Hold
  /** The seeds of the tests with random work. Default: 1 to 6. */
  readonly seeds?: ReadonlyArray<number>
}

/**
 * The tests that each store passes: reads, the queue, content, durability, epochs, moments, pins, imports, retention, and random work
 * against a reference model. They take some seconds and up to 200 MB together.
 *
 * @example The memory store keeps the contract
 * ```ts
 * import { MemoryStore } from "systole"
 * import { persistenceContract } from "systole/testing"
 *
 * for (const { name, run } of persistenceContract({ persistence: MemoryStore.layer })) {
 *   if (name.startsWith("writers")) await run()
 * }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const persistenceContract = (place: Place): ReadonlyArray<ContractTest> => {
  const { hold, persistence, seeds = [1, 2, 3, 4, 5, 6], spaces = "many" } = place
  const fresh = Layer.fresh(persistence).pipe(Layer.provide(PureHash.layer))
  const random: Readonly<Record<string, Group>> = { references: references(seeds), model: model(seeds) }
  const optional: Readonly<Record<string, Group>> = { ...hold && { busy: busy(hold) }, ...spaces === "many" ? several : {} }
  const groups = { ...single, ...random, ...optional }
  return Object.entries(groups).flatMap(([group, tests]) =>
    Object.entries(tests).map(([title, body]) => ({
      name: `${group}: ${title}`,
      run: () => Effect.runPromise(Effect.asVoid(body()).pipe(Effect.provide(fresh), Effect.scoped))
    })))
}

const opening: Group = {
  "refuses a space that is not there, and makes it when asked to": () =>
    Effect.gen(function*() {
      same(yield* reason(using("shop", () => Effect.void, { create: false })), "NoSuchSpace")
      const store = yield* using("shop", Effect.succeed)
      same([store.space, store.epoch, store.head()], ["shop", 0, { beat: -1, clock: 0, hash: "" }])
      same(yield* reason(using("shop", () => Effect.void, { create: false })), "succeeded")
    }),
  "refuses a name that cannot name a space": () =>
    Effect.gen(function*() {
      for (const space of ["", "Shop", "-a", "a/b", "../a", "a.b", "x".repeat(64)]) {
        same(yield* reason(using(space, () => Effect.void)), "InvalidSpaceName", space)
      }
    })
}

const removal: Group = {
  "removes a space with all its data, and creates an empty one of its name": () =>
    Effect.gen(function*() {
      const remove = Persistence.use((persistence) => persistence.remove("shop"))
      same(yield* reason(remove), "NoSuchSpace")
      same(yield* reason(Persistence.use((persistence) => persistence.remove("A"))), "InvalidSpaceName")
      const blobs = [{ hash: "b", bytes: Uint8Array.of(1) }]
      yield* using("shop", (store) => write(store, beat(0, { cells: [cell("/data/a", "1")], queued: [{ seq: 0, text: "q" }], blobs })))
      yield* remove
      same([...yield* Persistence.use((persistence) => persistence.spaces)], [])
      same(yield* reason(using("shop", () => Effect.void, { create: false })), "NoSuchSpace")
      yield* using("shop", (store) => Effect.sync(() => {
        same([store.epoch, store.head()], [0, { beat: -1, clock: 0, hash: "" }])
        same([store.read("/data/a"), store.blob("b"), [...store.queue()]], [undefined, undefined, []])
      }))
      yield* using("shop", (store) => write(store, beat(0)))
      same(yield* using("shop", (store) => Effect.sync(() => store.head().beat)), 0)
    }),
  "keeps uploads of a removed space out of the space that is created again": () =>
    Effect.gen(function*() {
      const part = new Uint8Array(1_048_576)
      const old = yield* using("shop", (store) => Effect.sync(() => {
        const uploads = [store.writeBlob(), store.writeBlob()]
        for (const upload of uploads) for (let n = 0; n < 2; n++) upload.write(part)
        return uploads
      }))
      yield* Persistence.use((persistence) => persistence.remove("shop"))
      const bytes = part.map((_, n) => n)
      yield* using("shop", (store) => {
        const uploads = [store.writeBlob(), store.writeBlob()]
        for (const upload of uploads) for (let n = 0; n < 2; n++) upload.write(bytes)
        const [aborted, continued] = old
        // An upload of a closed store may refuse.
        for (const late of [() => aborted?.abort(), () => continued?.write(part)]) Effect.runSync(Effect.exit(Effect.sync(late)))
        for (const [n, upload] of uploads.entries()) upload.finish(`content${n}`)
        return write(store, beat(0))
      })
      const twice = Uint8Array.from([...bytes, ...bytes])
      yield* using("shop", (store) => Effect.sync(() => same([store.blob("content0"), store.blob("content1")], [twice, twice])))
    })
}

const apart: Group = {
  "lists the spaces by name and keeps them apart": () =>
    Effect.gen(function*() {
      for (const space of ["b", "a0", "a"]) yield* using(space, (store) => write(store, beat(0, { cells: [cell("/data/x", space)] })))
      same([...yield* Persistence.use((persistence) => persistence.spaces)].sort(), ["a", "a0", "b"])
      same(yield* using("a", (store) => Effect.sync(() => store.read("/data/x"))), "a")
    }),
  ...momentsApart
}

const model = (seeds: ReadonlyArray<number>): Group => Object.fromEntries(seeds.map((seed) => [
  `behaves like plain maps under random work, reopened at random (seed ${seed})`,
  () => Model.check(seed, 400)
]))

/** The tests that need one space. */
const single: Readonly<Record<string, Group>> = {
  opening, removal, reads, receipts, queue, observations, blobs, content, durability, writers, formats, moments, pin, arrival,
  retention: retained
}

/** The tests that need several spaces in one place. */
const several: Readonly<Record<string, Group>> = { spaces: apart }
