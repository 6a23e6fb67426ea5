import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { Kernel } from "systole"
import { Imports } from "../../src/archive/Imports.ts"
import { hash } from "../frame/Frames.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as Trials from "../support/Trials.ts"
import * as BadFrames from "./BadFrames.ts"
import * as Kills from "./Kills.ts"
import * as Spaces from "./Spaces.ts"

/** The files in a folder of spaces. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))

/** Offers a frame in parts of a size, until it is refused. Returns the code of the refusal. */
const offer = (kernel: Kernel["Service"], bytes: Uint8Array, size = 30_000) =>
  Effect.gen(function*() {
    const imports = new Imports({ kernel, hash }, { fork: () => Effect.runFork(Effect.void), limit: () => 16 })
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
    const take = imports.take({ space: Kills.COPY, id: "abcdefgh", why: "copy", from: 0, bytes: Stream.fromIterable(pieces) })
    const taken = yield* Effect.match(take, { onFailure: ({ code }) => code, onSuccess: (taken) => "root" in taken ? "root" : "open" })
    // A part that ends early is no refusal: its sender may go on, or it is given up.
    if (taken === "open") yield* kernel.remove(Kills.COPY)
    return taken === "open" ? "frame/unsealed" : taken
  })

/** Asserts that each frame is refused by name, and leaves no space and no file. */
const refuses = (bad: Iterable<BadFrames.BadFrame>) =>
  Effect.scoped(Effect.flatMap(SqliteFolder.folder, (folder) => Kills.inFolder(folder, (kernel) =>
    Effect.forEach(bad, ({ bytes, codes, name }) =>
      Effect.gen(function*() {
        assert.include(codes, yield* offer(kernel, bytes), name)
        assert.strictEqual(yield* Kills.found(kernel), "space/unknown", name)
        assert.deepStrictEqual(yield* kernel.spaces, [], name)
        assert.deepStrictEqual(filesIn(folder), [], name)
      }), { discard: true }))))

describe("No space and no file is left of a frame", () => {
  it.live("N19 with a changed byte, or that ends early", () =>
    Effect.gen(function*() {
      const frame = yield* Kills.frame
      const all = Array.from(frame.keys())
      const some = (least: number) => Trials.spread(all.length, Math.max(least, Trials.count(1000) / 10)).map((at) => all[at] ?? 0)
      yield* refuses(BadFrames.flipped(frame, [...some(20), frame.length - 1]))
      yield* refuses(BadFrames.cut(frame, [...some(8), frame.length - 1]))
    }))

  it.live("N19 with its chunks in another order, or with one of another frame", () =>
    Effect.gen(function*() {
      yield* refuses(BadFrames.exchanged(yield* Kills.frame, yield* Kills.frameOf(["a", "c"])))
    }))

  it.live("N34 beyond a limit, or of a version to come", () =>
    Effect.flatMap(Effect.promise(() => BadFrames.beyond()), refuses))

  it.live("whose chain of digests fits, and whose rows do not", () =>
    Effect.gen(function*() {
      const frame = yield* Kills.frame
      yield* refuses(yield* Effect.promise(() => BadFrames.sealedAnew(frame)))
    }))
})

describe("A frame", () => {
  it.live("makes a space once under a name, and another one under another name", () =>
    Effect.scoped(Effect.gen(function*() {
      const frame = yield* Kills.frame
      const folder = yield* SqliteFolder.folder
      yield* Kills.inFolder(folder, (kernel) => Effect.gen(function*() {
        yield* Kills.send(kernel, frame)
        const before = yield* Kills.found(kernel)
        assert.strictEqual(yield* offer(kernel, frame), "space/exists")
        assert.deepStrictEqual(yield* Kills.found(kernel), before)
        yield* Spaces.take(kernel, frame, { space: "again" })
        assert.deepStrictEqual(yield* kernel.spaces, ["again", Kills.COPY])
      }))
    })))
})
