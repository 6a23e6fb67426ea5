import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { replay, type Space, StoreFormat, verify } from "systole"
import * as InFlight from "./InFlight.ts"
import * as Recording from "./Recording.ts"
import { beats, type Story, together } from "./Story.ts"
import * as StoryProcess from "./StoryProcess.ts"

const isWhole = Effect.fnUntraced(function*(space: Space) {
  assert.isUndefined((yield* space.examine(verify)).fault)
  const head = yield* space.head
  const { difference, impossible } = yield* space.examine((history) => replay(history, 0, head))
  assert.deepStrictEqual([difference, impossible], [undefined, undefined])
})

/** Runs a process over a recorded store, with its module loaded again. */
const life = <A>(story: Story, root: string, run: (process: StoryProcess.Process, space: Space) => Effect.Effect<A, unknown>) =>
  StoryProcess.live(story, root, (process) => Effect.gen(function*() {
    yield* TestClock.setTime(100_000)
    yield* process.load
    return yield* run(process, yield* process.kernel.space("home"))
  }))

const formatIn = (root: string): unknown => {
  const database = new DatabaseSync(join(StoryProcess.data(root), "home.sqlite"), { readOnly: true })
  try {
    return database.prepare("SELECT format FROM meta").get()?.["format"]
  } finally {
    database.close()
  }
}

/** Ends the wait of both runs. Returns their receipts. */
const goOn = Effect.fnUntraced(function*({ reactor }: StoryProcess.Process, space: Space) {
  yield* together(space, [space.signal({ signal: "/signals/wake", target: "/data/wake", payload: "this version" })])
  for (const job of reactor.jobs) reactor.complete(job.rid, { value: "paid" })
  yield* beats(space, 8)
  return yield* Effect.forEach(["x.1.0", "x.1.1"], (id) =>
    Effect.map(space.receipt(id), (receipt) => receipt?.handlings.map(({ enzyme, outcome, value }) => [enzyme, outcome, value])))
})

const request = { rid: "bank:1.1.0", channel: "bank", opcode: "charge", state: "complete", attempt: 1, bytes_done: 0, value: "paid" }

const ends = [[["waits", "ok", ["woken by", "this version"]]], [["asks", "ok", ["charged", request]]]]

const counts = Effect.fnUntraced(function*(space: Space) {
  return yield* Effect.forEach(["begun", "heard", "ended", "asked", "charged"], (name) => space.get(`/data/count/${name}`))
})

describe.each(InFlight.byFormat)("A store of an earlier release in format %i", (format, story, kept) => {
  const inStore = (body: (root: string) => Effect.Effect<void, unknown>) => () =>
    Recording.inFolder((root) => Effect.suspend(() => {
      Recording.restore(story, root)
      InFlight.write(root)
      return body(root)
    }))

  it("keeps its format, and its durable runs go on once each", inStore((root) => Effect.gen(function*() {
    yield* life(story, root, (process, space) => Effect.gen(function*() {
      yield* isWhole(space)
      assert.strictEqual((yield* space.storage.status).format, format)
      assert.deepStrictEqual(yield* goOn(process, space), ends)
      assert.deepStrictEqual(yield* counts(space), [1, 1, 1, 1, 1])
      assert.strictEqual(yield* space.get("/data/kept"), kept)
      yield* isWhole(space)
    }))
    assert.strictEqual(formatIn(root), format)
  })))

  it("is upgraded with the runs under way, which go on once each in another process", inStore((root) => Effect.gen(function*() {
    yield* life(story, root, (_, space) => Effect.gen(function*() {
      assert.strictEqual((yield* space.storage.finish).format, StoreFormat.NEWEST)
      assert.deepStrictEqual(yield* space.storage.carry({ limit: 1 }), { rows: 0, next: 5 })
    }))
    assert.strictEqual(formatIn(root), StoreFormat.NEWEST)
    yield* life(story, root, (process, space) => Effect.gen(function*() {
      yield* isWhole(space)
      yield* space.storage.carry({ limit: 100 })
      assert.deepInclude(yield* space.storage.status, { format: StoreFormat.NEWEST, carried: StoreFormat.NEWEST })
      assert.deepStrictEqual(yield* goOn(process, space), ends)
      assert.deepStrictEqual(yield* counts(space), [1, 1, 1, 1, 1])
      assert.strictEqual(yield* space.get("/data/kept"), kept)
      yield* isWhole(space)
    }))
  })))
})
