import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Kernel, MemoryStore, type Persistence, type Space } from "systole"
import { createHash } from "node:crypto"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import { begun as done, controlled, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A module with its greeting, and the cell that it reads before it sleeps. */
const version = (greeting: string, cell = greeting, options: Partial<Enzyme.Definition> = {}) => {
  const enzyme = Enzyme.make({
    name: "greet",
    query: "/signals/greet",
    durable: true,
    ...options,
    run: async (tx) => {
      tx.get(`/data/names/${cell}`)
      await tx.sleep(10)
      return greeting
    }
  })
  return { enzyme, hash: createHash("sha256").update(`${greeting} ${cell}`).digest("hex") }
}

/** A module, whether the deployment leaves its enzyme out, and the signals that a beat takes there. */
interface Version extends ReturnType<typeof version> {
  readonly isLeftOut?: boolean
  readonly captureSignals?: number
}

/** A deployment: the modules of a host, of which the first one is active. No store has a text, and no body stays in memory. */
const deployed = <A, E>(
  [active, ...kept]: readonly [Version, ...ReadonlyArray<Version>],
  store: Context.Context<Persistence>,
  use: (space: Space, kernel: Kernel["Service"]) => Effect.Effect<A, E, Kernel>
) => {
  const restore = (digest: string) => {
    const found = [active, ...kept].find(({ hash }) => hash === digest)
    return Promise.resolve(found === undefined ? "the build has no such module" : { enzymes: [found.enzyme], nodes: [] })
  }
  const { captureSignals = TestKernel.settings.limits.captureSignals, isLeftOut = false } = active
  const limits = { ...TestKernel.settings.limits, captureSignals, residentRuns: 0 }
  const layer = TestKernel.layer({ limits }, Layer.succeedContext(store)).pipe(
    Layer.provide(Layer.succeed(ModuleRestore, restore))
  )
  return Effect.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel[isLeftOut ? "leaveOut" : "register"](active.enzyme, { hash: active.hash })
    return yield* use(yield* kernel.space("test"), kernel)
  }).pipe(Effect.provide(Layer.fresh(layer)))
}

const store = Layer.build(Layer.fresh(MemoryStore.layer))

const [hello, other, fits] = [version("hello"), version("other"), version("later", "hello")]

const absent: Version = { ...hello, isLeftOut: true }

/** Begins a run, and waits until its sleep is over. */
const begun = (space: Space) => Effect.gen(function*() {
  const { id } = yield* space.signal({ signal: "/signals/greet" })
  yield* space.step
  yield* TestClock.adjust(10)
  return id
})

const states = (space: Space) =>
  Effect.map(space.runs.list({ limit: 10 }), ({ runs }) => runs.map(({ note, state }) => [state, note]))

/** Ends the run at once. */
const cancelled = (space: Space) => Effect.gen(function*() {
  const { runs: [run] } = yield* space.runs.list({ limit: 10 })
  yield* done(space, space.runs.cancel(run?.oid ?? "", { now: true }))
  yield* space.step
})

const valueOf = (space: Space, id: string) => Effect.map(space.receipt(id), (receipt) => receipt?.handlings[0]?.value)

describe("a durable run without its module", () => {
  it.effect("goes on with the present module if its log fits", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([hello], disk, begun)
    yield* deployed([fits], disk, (space) => Effect.gen(function*() {
      yield* space.step
      assert.strictEqual(yield* valueOf(space, id), "later")
    }))
  }))

  it.effect("is held, also by later starts, until one that has it", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([hello], disk, begun)
    for (const start of [1, 2]) {
      yield* deployed([other], disk, (space) => Effect.gen(function*() {
        yield* space.step
        assert.deepStrictEqual(yield* states(space), [["held", "run/code-missing"]], `start ${start}`)
        assert.include((yield* TestKernel.diagnostics(space)).map(({ topic }) => topic), "run/code-missing")
        const beat = yield* space.step
        assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), [])
      }))
    }
    yield* deployed([other, hello], disk, (space) => Effect.gen(function*() {
      yield* space.step
      assert.strictEqual(yield* valueOf(space, id), "hello")
      assert.deepStrictEqual(yield* states(space), [])
      yield* replays(space)
    }))
  }))

  it.effect("goes on when its module is loaded while the process runs", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([hello], disk, begun)
    yield* deployed([other], disk, (space, kernel) => Effect.gen(function*() {
      yield* space.step
      yield* kernel.unregister(other.enzyme)
      yield* kernel.register(fits.enzyme, { hash: fits.hash })
      yield* space.step
      assert.strictEqual(yield* valueOf(space, id), "later")
    }))
  }))

  it.effect("ends as a dead letter if it is cancelled", () => Effect.gen(function*() {
    const disk = yield* store
    yield* deployed([hello], disk, begun)
    yield* deployed([other], disk, (space) => Effect.gen(function*() {
      yield* space.step
      const { runs: [run] } = yield* space.runs.list({ limit: 10 })
      yield* Effect.all([space.runs.cancel(run?.oid ?? ""), space.step], { concurrency: 2 })
      yield* space.step
      assert.deepStrictEqual(yield* states(space), [["dead", "run/cancelled"]])
    }))
  }))

  it.effect("is ended at once, without a call of another module", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([hello], disk, begun)
    yield* deployed([other], disk, (space) => Effect.gen(function*() {
      yield* space.step
      yield* cancelled(space)
      assert.deepStrictEqual(yield* states(space), [["dead", "run/cancelled"]])
      assert.strictEqual((yield* space.receipt(id))?.status, "dead")
    }))
  }))
})

describe("a durable run without its module, with onMissing: end", () => {
  const strict = { lane: "space", order: "strict" } as const
  const before = version("hello", "hello", strict)
  const held = version("other", "other", strict)
  const ends = version("new", "new", { ...strict, onMissing: "end", onDead: "/signals/died" })
  const died = Enzyme.make({ name: "died", query: "/signals/died", run: (tx, { payload }) => tx.set("/data/died", payload) })

  /** Ends a run while another event waits behind it in its lane. */
  const ended = (space: Space) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/greet" })
    yield* steps(space, 2)
    assert.sameDeepMembers([...yield* states(space)], [["dead", "run/code-missing"], ["waiting", undefined]])
    yield* TestClock.adjust(10)
    yield* space.step
    assert.strictEqual(yield* valueOf(space, id), "new")
  })

  it.effect("is a dead letter, and its lane goes on", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([before], disk, begun)
    yield* deployed([ends], disk, (space, kernel) => Effect.gen(function*() {
      yield* kernel.register(died)
      yield* ended(space)
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual([receipt?.status, receipt?.handlings[0]?.error?.code], ["dead", "run/code-missing"])
      assert.deepStrictEqual(yield* space.get("/data/died"), { id, enzyme: "greet", code: "run/code-missing" })
      const facts = yield* TestKernel.diagnostics(space)
      assert.deepStrictEqual(facts.map(({ code, topic }) => [topic, code]), [["run/dead", "run/code-missing"]])
      const { runs: [run] } = yield* space.runs.list({ limit: 1 })
      yield* done(space, space.runs.retry(run?.oid ?? "", { anew: true }))
      yield* steps(space, 2)
      yield* TestClock.adjust(10)
      yield* space.step
      assert.strictEqual(yield* valueOf(space, id), "new")
    }))
    yield* deployed([ends, before], disk, (space, kernel) => Effect.andThen(kernel.register(died), replays(space)))
  }))

  it.effect("is a dead letter, too, where an earlier deployment held it", () => Effect.gen(function*() {
    const disk = yield* store
    yield* deployed([before], disk, begun)
    yield* deployed([held], disk, (space) => Effect.gen(function*() {
      yield* steps(space, 1)
      assert.deepStrictEqual(yield* states(space), [["held", "run/code-missing"]])
    }))
    yield* deployed([ends], disk, ended)
  }))

  it.effect("goes on with the present module if its log fits", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([before], disk, begun)
    yield* deployed([version("later", "hello", { ...strict, onMissing: "end" })], disk, (space) => Effect.gen(function*() {
      yield* space.step
      assert.strictEqual(yield* valueOf(space, id), "later")
    }))
  }))
})

describe("a durable run without its enzyme", () => {
  it.effect("is ended at once, while it is held, and goes on with its letter when the enzyme is back", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([hello], disk, begun)
    yield* deployed([absent], disk, (space, kernel) => Effect.gen(function*() {
      yield* space.step
      assert.deepStrictEqual(yield* states(space), [["held", "enzyme/held"]])
      yield* cancelled(space)
      assert.deepStrictEqual(yield* states(space), [["dead", "run/cancelled"]])
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "run/cancelled")
      yield* kernel.register(hello.enzyme, { hash: hello.hash })
      yield* controlled(space, space.redeliver(id, "greet"))
      yield* steps(space, 2)
      assert.strictEqual(yield* valueOf(space, id), "hello")
      yield* replays(space)
    }))
  }))

  it.effect("is ended at once, while it waits, also by a later start", () => Effect.gen(function*() {
    const disk = yield* store
    const id = yield* deployed([hello], disk, (space) => Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/greet" })
      yield* space.step
      return id
    }))
    yield* deployed([{ ...absent, captureSignals: 1 }], disk, (space) => Effect.gen(function*() {
      // The beat of the cancellation has no room for the run.
      yield* space.signal({ signal: "/signals/other" })
      yield* done(space, space.runs.cancel((yield* space.runs.list({ limit: 1 })).runs[0]?.oid ?? "", { now: true }))
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
    }))
    yield* deployed([absent], disk, (space) => Effect.gen(function*() {
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "run/cancelled")
      yield* replays(space)
    }))
  }))
})
