import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { explain, type Kernel, MemoryStore, Persistence, PersistenceError, replay, type Space, verify, why } from "systole"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** The beginning of each entry. */
const BEGIN = '{"v":3,'

/** A store whose entries from a beat on have another text, as another version of Systole wrote them; with their digests. */
const written = (by: { begin: string; from: number; readonly find?: string }) =>
  Layer.effect(Persistence, Effect.gen(function*() {
    const memory = Context.get(yield* Layer.build(Layer.provideMerge(MemoryStore.layer, HashLayer.layer)), Persistence)
    return Persistence.of({
      ...memory,
      open: (name, options) =>
        Effect.map(memory.open(name, options), (store) => {
          const rewrite = <Row extends { readonly beat: number; readonly text: string; readonly hash: string }>(row: Row): Row => {
            if (row.beat < by.from) return row
            const text = row.text.replace(by.find ?? BEGIN, by.begin)
            return { ...row, text, hash: options?.digest?.(text) ?? row.hash }
          }
          return new Proxy(store, {
            get: (target, key) => {
              if (key === "entry") {
                return (beat: number) => {
                  const row = store.entry(beat)
                  return row && rewrite(row)
                }
              }
              if (key === "scanJournal") {
                return function*(...range: Parameters<typeof store.scanJournal>) {
                  for (const row of store.scanJournal(...range)) yield rewrite(row)
                }
              }
              const value: unknown = Reflect.get(target, key, target)
              return typeof value === "function" ? value.bind(target) : value
            }
          })
        })
    })
  }))

const count = TestSpace.enzyme("count", (tx) => tx.increment("/data/count"))

/** A space with three beats. */
const counted = Effect.gen(function*() {
  const space = yield* TestKernel.space([count])
  for (let i = 0; i < 3; i++) {
    yield* space.signal({ signal: "/signals/count" })
    yield* space.step
  }
  return space
})

const failureOf = <A>(exit: Exit.Exit<A, unknown>): PersistenceError => {
  const error = Exit.isFailure(exit) ? exit.cause.reasons.flatMap((reason) => "error" in reason ? [reason.error] : [])[0] : undefined
  assert.instanceOf(error, PersistenceError)
  return error
}

const refused = <A>(space: Space, look: Parameters<Space["examine"]>[0]) =>
  Effect.map(Effect.exit(space.examine(look) as Effect.Effect<A, unknown>), failureOf)

describe("A journal entry of another version", () => {
  for (const [begin, found] of [['{"v":4,', "version 4"], ['{"v":2,', "version 2"], ["{", "no version"]] as const) {
    const by = { begin: BEGIN, from: 2 }
    it.effect(`(${found}) is journal/version wherever it is read, with what to do`, () =>
      Effect.gen(function*() {
        const space = yield* counted
        assert.isUndefined((yield* space.examine(verify)).fault)
        by.begin = begin
        const { entries, fault } = yield* space.examine(verify)
        assert.deepStrictEqual([entries, fault?.code, fault?.beat], [3, "journal/version", 2])
        const { beats, difference, impossible } = yield* space.examine((history) => replay(history, 0, 2))
        assert.deepStrictEqual([beats, difference, impossible?.code, impossible?.beat], [0, undefined, "journal/version", 2])
        const errors = [
          yield* refused(space, (history) => explain(history, 2, "count")),
          yield* refused(space, (history) => why(history, "/data/count")),
          failureOf(yield* Effect.exit(space.get("/rt/beat/2/agenda")))
        ]
        for (const { code } of errors) assert.strictEqual(code, "journal/version")
        for (const text of [fault?.reason, impossible?.reason, ...errors.map(({ message }) => message)]) {
          for (const part of [found, "beat 2", "reads version 3", "Use the version of Systole that wrote it"]) assert.include(text, part)
        }
      }).pipe(Effect.provide(TestKernel.layer({}, written(by)))))
  }

  const newer = { begin: BEGIN, from: 0 }
  it.effect("keeps its space from opening if it is the newest one, and changes nothing", () =>
    Effect.gen(function*() {
      const persistence = Layer.succeedContext(yield* Layer.build(written(newer)))
      const life = <A, E>(body: Effect.Effect<A, E, Kernel>) =>
        Effect.scoped(body).pipe(Effect.provide(TestKernel.layer({}, persistence), { local: true }))
      yield* life(counted)
      Object.assign(newer, { begin: '{"v":4,', from: 2 })
      const { code, message } = failureOf(yield* Effect.exit(life(counted)))
      assert.strictEqual(code, "journal/version")
      for (const part of ["space \"test\"", "version 4", "Nothing was changed"]) assert.include(message, part)
      Object.assign(newer, { begin: BEGIN })
      assert.strictEqual(yield* life(Effect.flatMap(TestKernel.space([count]), (space) => space.get("/data/count"))), 3)
    }).pipe(Effect.scoped))

  const unknown = { find: '"semantics":2', begin: '"semantics":2', from: 2 }
  it.effect("keeps its space from opening if its beat followed rules that are not known, and changes nothing", () =>
    Effect.gen(function*() {
      const persistence = Layer.succeedContext(yield* Layer.build(written(unknown)))
      const life = <A, E>(body: Effect.Effect<A, E, Kernel>) =>
        Effect.scoped(body).pipe(Effect.provide(TestKernel.layer({}, persistence), { local: true }))
      yield* life(counted)
      Object.assign(unknown, { begin: '"semantics":99' })
      const { code, message } = failureOf(yield* Effect.exit(life(counted)))
      assert.strictEqual(code, "journal/version")
      for (const part of ["space \"test\"", "semantics 99", "knows semantics up to 2", "Nothing was changed"]) assert.include(message, part)
      Object.assign(unknown, { begin: '"semantics":2' })
      assert.strictEqual(yield* life(Effect.flatMap(TestKernel.space([count]), (space) => space.get("/data/count"))), 3)
    }).pipe(Effect.scoped))
})
