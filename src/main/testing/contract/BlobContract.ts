/**
 * The contract of persistence: content comes whole or in pieces, and is read back whole or in parts.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import { refuses, same } from "./Check.ts"
import { inbox, using } from "./Batches.ts"
import { checkParts, everywhere, type Group, mixed } from "./StoreTest.ts"

const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => i * 7)

/** Content, by its digest. */
export const blobs: Group = {
  "keeps content of a batch by its hash": () => {
    const blobs = [{ hash: "big", bytes }, { hash: "empty", bytes: new Uint8Array() }]
    return everywhere((store) => store.append(inbox({ blobs })), (store) => {
      same(store.blob("big"), bytes)
      same(store.blob("empty"), new Uint8Array())
      checkParts(store, { big: bytes, empty: new Uint8Array() })
      same(store.blob("other"), undefined)
      same(["big", "empty", "other"].map((hash) => store.holds(hash)), [true, true, false])
    })
  },
  "marks the texts of modules among content, whatever content comes once more": () => {
    const text = Uint8Array.of(1, 2)
    const come = (hash: string, code?: boolean) => inbox({ blobs: [{ hash, bytes: text, ...code === undefined ? {} : { code } }] })
    return mixed({ before: come("before", true), after: come("after", true) }, (store) => {
      store.append(come("before"))
      store.append(come("after"))
      store.append(come("other"))
      same(["before", "after", "other", "none"].map((hash) => store.isCode(hash)), [true, true, false, false])
    })
  },
  "takes content piece by piece, in pieces of any size up to 1 MiB": () =>
    everywhere((store) => {
      for (const size of [1_048_576, 65_537]) {
        const writer = store.writeBlob()
        const buffer = new Uint8Array(size)
        for (let at = 0; at < bytes.length; at += size) {
          const chunk = bytes.subarray(at, at + size)
          buffer.set(chunk)
          writer.write(buffer.subarray(0, chunk.length))
        }
        writer.finish(`by${size}`)
      }
      store.writeBlob().finish("nothing")
      refuses(() => store.writeBlob().write(new Uint8Array(1_048_577)), /limit is 1048576/)
    }, (store) => {
      same(store.blob("by1048576"), bytes)
      same(store.blob("by65537"), bytes)
      same(store.blob("nothing"), new Uint8Array())
      checkParts(store, { by1048576: bytes, by65537: bytes, nothing: new Uint8Array() })
      same(store.holds("by65537"), true)
    }),
  "keeps the same content once, and forgets what was aborted or not flushed": () =>
    Effect.gen(function*() {
      const put = (store: SpaceStore, hash: string) => {
        const writer = store.writeBlob()
        writer.write(bytes.subarray(0, 10))
        writer.finish(hash)
        refuses(() => writer.write(bytes.subarray(0, 1)), /finished/)
      }
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          put(store, "a")
          put(store, "a")
          yield* store.flush
          put(store, "a")
          yield* store.flush
          put(store, "late")
          const writer = store.writeBlob()
          writer.write(bytes.subarray(0, 10))
          writer.abort()
        }))
      yield* using("shop", (store) =>
        Effect.sync(() => {
          same(store.blob("a"), bytes.subarray(0, 10))
          same(store.blob("late"), undefined)
        }))
    })
}
