/**
 * How the contract of persistence is tested.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Persistence, SpaceStore } from "systole"
import { using, write } from "../persistence/Batches.ts"

/** Makes a test that gets a store of its own. */
export type Test = (name: string, body: () => Effect.Effect<unknown, unknown, Persistence>) => void

/** Runs `check` over what is appended, over what is flushed, and over a store that is opened again. */
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

/** Half of what `everywhere` looks at is durable before the rest is appended. */
export const mixed = (batches: { readonly before: Parameters<SpaceStore["append"]>[0]; readonly after: Parameters<SpaceStore["append"]>[0] }, check: (store: SpaceStore) => void) =>
  Effect.andThen(using("shop", (store) => write(store, batches.before)), everywhere((store) => store.append(batches.after), check))

/** Whether bytes are the same. */
export const same = (a: Uint8Array | undefined, b: Uint8Array): boolean => a !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i])

/** Each content comes in parts of 1 MiB, and none of other content does. */
export const checkParts = (store: SpaceStore, contents: Readonly<Record<string, Uint8Array>>): void => {
  for (const [hash, bytes] of Object.entries(contents)) {
    for (let part = 0; part < 4; part++) {
      const found = store.blobPart(hash, part)
      assert.strictEqual(found?.size, bytes.length)
      assert.isTrue(same(found?.bytes, bytes.subarray(part * 1_048_576, (part + 1) * 1_048_576)), `${hash} ${part}`)
    }
  }
  assert.isUndefined(store.blobPart("other", 0))
}
