import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Space } from "systole"
import * as Chain from "../../src/archive/Chain.ts"
import { Imports } from "../../src/archive/Imports.ts"
import { concat } from "../../src/cell/Bytes.ts"
import { FrameRefused } from "../../src/frame/FrameRefused.ts"
import * as Row from "../../src/frame/Row.ts"
import { hash, write } from "../frame/Frames.ts"
import { enzyme, replays, steps } from "../kernel/TestSpace.ts"
import { bring, frameOf, type Node, node } from "./Nodes.ts"
import { atChunk, headerOf } from "./Spaces.ts"

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

  it.effect("is refused where an entry of a range is none, though its digests fit", () => Effect.gen(function*() {
    const here = yield* node({ modules })
    const { first, second } = yield* chain(here)
    const header = headerOf(second)
    for (const [rest, code] of [["", "frame/bounds"], [`,"cells":7}`, "frame/bounds"]] as const) {
      const text = `{"v":3,"beat":${header.to},"prev":"${header.anchor.hash}"${rest}`
      const row = Row.write("journal", { beat: header.to, clock: header.clock, hash: hash.hex(text), text })
      const { pieces } = yield* Effect.promise(() => write([row], header))
      assert.strictEqual(yield* refusal(here, [first, concat(pieces)]), code)
    }
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
    for (const imports of [here.imports, new Imports(here, { fork: here.fork, limit: () => 16 })]) {
      assert.strictEqual((yield* Effect.flip(imports.take(asRestore))).code, "space/importing")
    }
    const later = new Imports(here, { fork: here.fork, limit: () => 16 })
    const place = yield* part(later, first, { frame: 0, from: 0 })
    assert.isTrue("next" in place && place.frame === 1, JSON.stringify(place))
    const next = "next" in place ? place.next : 0
    assert.property(yield* part(later, second.subarray(atChunk(second, next)), { frame: 1, from: next }), "root")
    const copy = yield* here.kernel.space("copy")
    for (const name of ["a", "b", "c"]) assert.deepStrictEqual(yield* copy.get(`/data/${name}`), yield* home.get(`/data/${name}`), name)
  }))
})

const header = (kind: "snapshot" | "range", from: number, to: number): Chain.Placed["header"] =>
  ({
    kind, origin: "home@1", anchor: { beat: from, hash: from < 0 ? "" : `h${from}` }, head: { beat: to, hash: `h${to}` }, clock: to * 1000
  })

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
    if (error instanceof Chain.NoChain) return `${error.code} ${error.message}`
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
    assert.strictEqual(paths({ time: 9_999 }), "backup/absent There is no backup up to this point: the oldest is another one: " +
      "--at 1970-01-01T00:00:10.000Z chooses beat 10 of snapshot 10")
    assert.strictEqual(paths(), "backup/gap range 50-60 cannot be restored: range 50-60 follows beat 50, and no file that ends with it " +
      "is there. --at 1970-01-01T00:00:40.000Z chooses beat 40 of snapshot 40")
  })

  it("have no end in another incarnation of the space that has fewer beats", () => {
    const anew: Chain.Placed = { path: "anew", header: { ...header("snapshot", -1, 3), origin: "home@2", clock: 90_000 } }
    const all = [...backups, anew]
    assert.deepStrictEqual(Chain.choose(all), [anew])
    assert.strictEqual(Chain.rivalOf(all, anew)?.path, "range 50-60")
    const later: Chain.Placed = { ...anew, header: { ...anew.header, head: { beat: 70, hash: "h70" } } }
    assert.isUndefined(Chain.rivalOf([...backups, later], later))
  })
})
