import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Space } from "systole"
import * as Chain from "../../src/archive/Chain.ts"
import { Imports } from "../../src/archive/Imports.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import { FrameRefused } from "../../src/frame/FrameRefused.ts"
import { enzyme, replays, steps } from "../kernel/TestSpace.ts"
import { bring, frameOf, type Node, node } from "./Nodes.ts"

const modules = [
  enzyme("put", (tx, { payload }) => {
    for (const [name, value] of Object.entries(payload as object)) tx.set(`/data/${name}`, value ?? undefined)
  }),
  enzyme("later", (tx) => void tx.signal({ signal: "/signals/mark", at: { ms: 1e9 } }))
]

const put = (space: Space, payload: object) => Effect.andThen(space.signal({ signal: "/signals/put", payload }), steps(space, 1))

/** The frames of a space: a snapshot, and a range of later beats. */
const chain = Effect.fnUntraced(function*(here: Node) {
  const home = yield* here.kernel.space("home")
  yield* steps(home, 8)
  yield* put(home, { a: 1, b: 2 })
  yield* home.signal({ signal: "/signals/later", payload: 1 })
  yield* steps(home, 2)
  const first = yield* frameOf(here, "home")
  const since = yield* home.examine(({ store }) => store.head())
  yield* put(home, { a: 3, b: null, c: { text: "x".repeat(300_000) } })
  const second = yield* frameOf(here, "home", { since })
  return { home, first, second }
})

const refusal = (here: Node, frames: ReadonlyArray<Uint8Array>) => Effect.map(Effect.flip(bring(here, "copy", { frames })), (error) => {
  assert.instanceOf(error, FrameRefused)
  return error.code
})

describe("a chain of frames", () => {
  it.effect("becomes the space as of its last beat, and its journal is whole", () => Effect.gen(function*() {
    const here = yield* node({ modules })
    const { first, home, second } = yield* chain(here)
    const { space } = yield* bring(here, "copy", { frames: [first, second] })
    for (const name of ["a", "b", "c"]) assert.deepStrictEqual(yield* space.get(`/data/${name}`), yield* home.get(`/data/${name}`), name)
    const rows = (of: Space) => of.examine(({ store }) => [...store.queue()].map(({ seq }) => seq))
    assert.deepStrictEqual(yield* rows(space), yield* rows(home))
    assert.lengthOf(yield* rows(space), 1)
    yield* space.step
    yield* replays(space)
  }))

  it.effect("is refused where a range does not follow, and leaves no space", () => Effect.gen(function*() {
    const here = yield* node({ modules })
    const { first, second } = yield* chain(here)
    assert.strictEqual(yield* refusal(here, [second]), "frame/order")
    assert.strictEqual(yield* refusal(here, [first, second, second]), "frame/order")
    assert.strictEqual(yield* refusal(here, [first, first]), "frame/unknown")
    assert.deepStrictEqual(yield* here.kernel.spaces, ["home"])
  }))

  it.effect("goes on in the frame and with the chunk at which another importer broke off", () => Effect.gen(function*() {
    const here = yield* node({ modules })
    const { first, home, second } = yield* chain(here)
    const part = (imports: Imports, bytes: Uint8Array, place: { readonly frame: number; readonly from: number }) =>
      imports.take({ space: "copy", id: "abcdefgh", why: "copy", frames: 2, ...place, bytes: Stream.make(bytes) })
    assert.deepStrictEqual(yield* part(here.imports, first, { frame: 0, from: 0 }), { frame: 1, next: 0 })
    assert.deepStrictEqual(yield* part(here.imports, first, { frame: 0, from: 0 }), { frame: 1, next: 0 })
    yield* part(here.imports, second.subarray(0, second.length / 2), { frame: 1, from: 0 })
    const asRestore = { space: "copy", id: "abcdefgh", why: "restore", frames: 2, frame: 1, from: 0, bytes: Stream.empty } as const
    for (const imports of [here.imports, new Imports(here)]) {
      assert.strictEqual((yield* Effect.flip(imports.take(asRestore))).code, "space/importing")
    }
    const later = new Imports(here)
    const place = yield* part(later, first, { frame: 0, from: 0 })
    assert.isTrue("next" in place && place.frame === 1, JSON.stringify(place))
    const next = "next" in place ? place.next : 0
    assert.property(yield* part(later, second.subarray(atChunk(second, next)), { frame: 1, from: next }), "root")
    const copy = yield* here.kernel.space("copy")
    for (const name of ["a", "b", "c"]) assert.deepStrictEqual(yield* copy.get(`/data/${name}`), yield* home.get(`/data/${name}`), name)
  }))
})

/** The place of a chunk in a frame; 0 for the header. */
const atChunk = (bytes: Uint8Array, seq: number): number => {
  if (seq === 0) return 0
  let at = Chunk.OPENING + Chunk.lengthOf(bytes)
  for (let i = 1; i < seq; i++) at += Chunk.HEAD + Chunk.numbers(bytes.subarray(at)).stored + Chunk.DIGEST
  return at
}

const header = (kind: "snapshot" | "range", from: number, to: number): Chain.Placed["header"] =>
  ({ kind, anchor: { beat: from, hash: from < 0 ? "" : `h${from}` }, head: { beat: to, hash: `h${to}` }, clock: to * 1000 })

const backups: ReadonlyArray<Chain.Placed> = [
  { path: "range 10-20", header: header("range", 10, 20) },
  { path: "snapshot 10", header: header("snapshot", -1, 10) },
  { path: "range 20-30", header: header("range", 20, 30) },
  { path: "range 30-30", header: header("range", 30, 30), made: 35_000 },
  { path: "snapshot 40", header: header("snapshot", -1, 40) },
  { path: "range 50-60", header: header("range", 50, 60) }
]

const paths = (until?: Chain.Until): ReadonlyArray<string> | string => {
  try {
    return Chain.choose(backups, until).map(({ path }) => path)
  } catch (error) {
    if (error instanceof Chain.NoChain) return error.code
    throw error
  }
}

describe("the backups of a space", () => {
  it("are chosen by beat or time: the newest one up to it, with all that lead there", () => {
    assert.deepStrictEqual(paths({ beat: 45 }), ["snapshot 40"])
    assert.deepStrictEqual(paths({ beat: 30 }), ["snapshot 10", "range 10-20", "range 20-30", "range 30-30"])
    assert.deepStrictEqual(paths({ time: 34_000 }), ["snapshot 10", "range 10-20", "range 20-30"])
    assert.deepStrictEqual(paths({ time: 10_000 }), ["snapshot 10"])
  })

  it("have no point before the oldest, and none where one between is missing", () => {
    assert.strictEqual(paths({ time: 9_999 }), "backup/absent")
    assert.strictEqual(paths(), "backup/gap")
  })
})
