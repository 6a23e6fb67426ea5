/**
 * The frame of a test of the persistence contract.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Persistence, SpaceStore } from "../../../persistence/Persistence.ts"
import { holds, same } from "./Check.ts"
import { using, write } from "./Batches.ts"

/** Tests by their names. Each gets an empty place of its own. */
export type Group = Readonly<Record<string, () => Effect.Effect<unknown, unknown, Persistence>>>

/** Runs `check` over batches that are appended, that are flushed, and over a store that is opened again. */
export const everywhere = (prepare: (store: SpaceStore) => void, check: (store: SpaceStore) => void) =>
  Effect.gen(function*() {
    yield* using("shop", (store) =>
      Effect.suspend(() => {
        prepare(store)
        check(store)
        return Effect.tap(store.flush, () => Effect.sync(() => check(store)))
      }))
    yield* using("shop", (store) => Effect.sync(() => check(store)))
  })

/** Two batches: the first is durable before the second is appended. */
interface Batches {
  readonly before: Parameters<SpaceStore["append"]>[0]
  readonly after: Parameters<SpaceStore["append"]>[0]
}

/** Like {@link everywhere}, with one half durable before. */
export const mixed = ({ after, before }: Batches, check: (store: SpaceStore) => void) =>
  Effect.andThen(using("shop", (store) => write(store, before)), everywhere((store) => store.append(after), check))

/** Checks that content comes in parts of 1 MiB. */
export const checkParts = (store: SpaceStore, contents: Readonly<Record<string, Uint8Array>>): void => {
  for (const [hash, bytes] of Object.entries(contents)) {
    for (let part = 0; part < 4; part++) {
      const found = store.blobPart(hash, part)
      same(found?.size, bytes.length, `the size of ${hash}`)
      same(found?.bytes.slice(), bytes.slice(part * 1_048_576, (part + 1) * 1_048_576), `part ${part} of ${hash}`)
    }
  }
  holds(store.blobPart("other", 0) === undefined, "a part of content that is not there is found")
}
