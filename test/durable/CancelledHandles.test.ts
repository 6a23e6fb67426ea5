import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Enzyme, type IoResult, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun, replays, steps, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const channels = { bank: { opcodes: { charge: { repeatable: true }, refund: { repeatable: true } } } }

const charge = { channel: "bank", opcode: "charge" } as const

const codeOf = (error: unknown): string => (error as { readonly code: string }).code

/** Runs that cancel a charge after one beat, and refund it then. */
const bodies: Readonly<Record<string, (tx: Transaction) => unknown>> = {
  "by its handle": async (tx) => {
    const request = tx.io.request(charge)
    const ended = request.then(() => "charged", codeOf)
    await tx.sleep({ beats: 1 })
    const answers = [request.cancel(), request.cancel()]
    await tx.io.request({ channel: "bank", opcode: "refund" })
    return [await ended, ...answers]
  },
  "by an AbortSignal": async (tx) => {
    const controller = new AbortController()
    const ended = tx.io.request({ ...charge, signal: controller.signal }).then(() => "charged", codeOf)
    await tx.sleep({ beats: 1 })
    controller.abort()
    await tx.io.request({ channel: "bank", opcode: "refund" })
    return [await ended]
  },
  "by the AbortSignal of an Effect that is interrupted": (tx) => Effect.gen(function*() {
    const request = Effect.tryPromise((signal) => tx.io.request({ ...charge, signal }))
    const first = yield* Effect.raceFirst(Effect.as(request, "charged"), Effect.as(Effect.promise(() => tx.sleep({ beats: 1 })), "late"))
    yield* Effect.promise(() => tx.io.request({ channel: "bank", opcode: "refund" }))
    return [first]
  }),
  "by the interruption of an Effect": (tx) => Effect.gen(function*() {
    const request = Effect.as(Effect.promise(() => tx.io.request(charge)), "charged")
    const first = yield* Effect.raceFirst(request, Effect.as(Effect.promise(() => tx.sleep({ beats: 1 })), "late"))
    yield* Effect.promise(() => tx.io.request({ channel: "bank", opcode: "refund" }))
    return [first]
  }),
  "by the time-out of an Effect": (tx) => Effect.gen(function*() {
    const request = Effect.promise(() => tx.io.request(charge)).pipe(Effect.as("charged"), Effect.timeout("0 millis"))
    const first = yield* Effect.catch(request, () => Effect.succeed("late"))
    yield* Effect.promise(() => tx.io.request({ channel: "bank", opcode: "refund" }))
    return [first]
  }),
  "by the time-out of an Effect, in asynchronous code that it began": (tx) => Effect.gen(function*() {
    const charged = async () => {
      await tx.io.request(charge)
      return "charged"
    }
    const first = yield* Effect.promise(charged).pipe(Effect.timeout("0 millis"), Effect.catch(() => Effect.succeed("late")))
    yield* Effect.promise(() => tx.io.request({ channel: "bank", opcode: "refund" }))
    return [first]
  }),
  "by the time-out of an Effect that came before its await": (tx) => Effect.gen(function*() {
    const charged = async () => {
      const request = tx.io.request(charge)
      await tx.sleep({ beats: 1 })
      await request
      return "charged"
    }
    const first = yield* Effect.promise(charged).pipe(Effect.timeout("0 millis"), Effect.catch(() => Effect.succeed("late")))
    yield* Effect.promise(() => tx.sleep({ beats: 1 }))
    yield* Effect.promise(() => tx.io.request({ channel: "bank", opcode: "refund" }))
    return [first]
  })
}

const values: Readonly<Record<string, ReadonlyArray<string | boolean>>> = {
  "by its handle": ["io/cancelled", true, false],
  "by an AbortSignal": ["io/cancelled"]
}

/** The enzyme of a body. */
const enzyme = (run: (tx: Transaction) => unknown, options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name: "work", query: "/signals/work", durable: true, ...options, run })

/** A space over a scripted reactor. */
interface World {
  readonly reactor: TestReactor
  readonly space: Space
}

const inSpace = <A, E>(work: Enzyme.Enzyme, test: (world: World) => Effect.Effect<A, E, Kernel>, residentRuns = 100) => {
  const reactor = new TestReactor(channels)
  const settings = { limits: { ...TestKernel.settings.limits, residentRuns } }
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([work])
    yield* test({ reactor, space })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer(settings, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

const recordOf = Effect.fnUntraced(function*(space: Space, rid: string) {
  const [oid = ""] = (yield* space.list("/rt/ops")).filter((name) => name !== "OPS:io")
  const { code, state, uncertain } = (yield* space.get(`/rt/ops/${oid}/io_req/${rid}`)) as unknown as IoResult
  return [state, code, uncertain]
})

describe("A request of a durable run is cancelled", () => {
  for (const residentRuns of [100, 0]) {
    it.effect.each(Object.keys(bodies))(`%s, with its record, also when ${residentRuns} bodies stay in memory`, (name) =>
      inSpace(enzyme(bodies[name]!), ({ reactor, space }) => Effect.gen(function*() {
        const { id } = yield* space.signal({ signal: "/signals/work" })
        yield* space.step
        const [job] = reactor.jobs
        yield* steps(space, 2)
        assert.isTrue(job?.signal.aborted)
        assert.deepStrictEqual(yield* recordOf(space, job?.rid ?? ""), ["cnl", "io/cancelled", true])
        assert.deepStrictEqual(reactor.jobs.map(({ opcode }) => opcode), ["refund"])
        reactor.complete(reactor.jobs[0]?.rid ?? "")
        yield* steps(space, 2)
        assert.deepStrictEqual((yield* space.receipt(id))?.handlings[0]?.value, values[name] ?? ["late"])
      }), residentRuns))
  }

  it.effect("before it is submitted, if its run does so at once", () => inSpace(
    enzyme(async (tx) => {
      const ended = [
        tx.io.request({ ...charge, signal: AbortSignal.abort() }),
        tx.io.request(charge)
      ].map((request) => {
        const code = request.then(() => "charged", codeOf)
        request.cancel()
        return code
      })
      return Promise.all(ended)
    }),
    ({ reactor, space }) => Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/work" })
      yield* space.step
      assert.lengthOf(reactor.submitted, 0)
      assert.deepStrictEqual((yield* space.receipt(id))?.handlings[0]?.value, ["io/cancelled", "io/cancelled"])
    })
  ))

  it.effect("outside a segment by no one: the run has gone on without its handles", () => {
    let abort = (): void => {}
    const work = enzyme(async (tx) => {
      const controller = new AbortController()
      abort = () => controller.abort()
      await tx.io.request({ ...charge, signal: controller.signal })
    }, { retry: { attempts: 1 } })
    return inSpace(work, ({ reactor, space }) => Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/work" })
      yield* space.step
      abort()
      yield* steps(space, 3)
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "run/foreign-await")
      assert.lengthOf(reactor.jobs, 0)
    }))
  })
})

describe("A wait of a durable run is cancelled", () => {
  const hears = [{ signal: "/signals/go", target: "/data/go" }]

  it.effect("and a signal is left to the next wait for it", () => inSpace(
    enzyme(async (tx) => {
      const [first, second] = [tx.waitForSignal("/signals/go", "/data/go"), tx.waitForSignal("/signals/go", "/data/go")]
      const ended = first.then(() => "heard", codeOf)
      await tx.sleep({ beats: 1 })
      first.cancel()
      const heard = [await second, await tx.waitForSignal("/signals/go", "/data/go")]
      return [await ended, ...heard.map(({ payload }) => payload)]
    }, { hears }),
    ({ space }) => Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/work" })
      yield* steps(space, 3)
      for (const payload of [1, 2]) yield* space.signal({ signal: "/signals/go", target: "/data/go", payload })
      yield* steps(space, 3)
      assert.deepStrictEqual((yield* space.receipt(id))?.handlings[0]?.value, ["run/wait-cancelled", 1, 2])
    })
  ))

  for (const residentRuns of [100, 0]) {
    it.effect(`with its run, and a signal is left to a wait in its undo, with ${residentRuns} bodies in memory`, () => inSpace(
      enzyme(async (tx) => {
        const wait = () => tx.waitForSignal("/signals/go", "/data/go")
        try {
          await Promise.all([wait(), wait()])
        } catch (error) {
          return [codeOf(error), (await wait()).payload]
        }
      }, { hears }),
      ({ space }) => Effect.gen(function*() {
        const { id } = yield* space.signal({ signal: "/signals/work" })
        yield* space.step
        const { runs: [run] } = yield* space.runs.list({ limit: 1 })
        yield* begun(space, space.runs.cancel(run?.oid ?? ""))
        yield* space.step
        yield* space.signal({ signal: "/signals/go", target: "/data/go", payload: 1 })
        yield* steps(space, 3)
        assert.deepStrictEqual((yield* space.receipt(id))?.handlings[0]?.value, ["run/cancelled", 1])
      }),
      residentRuns
    ))
  }

  it.effect("and a sleep has no due time any more", () => Effect.gen(function*() {
    const work = enzyme(async (tx) => {
      const late = tx.sleep(60_000)
      const ended = late.then(() => "late", codeOf)
      late.cancel()
      tx.set("/data/ended", await ended)
      await tx.waitForSignal("/signals/go", "/data/go")
    }, { hears })
    const machine = yield* RestartableKernel.make([work])
    const kernel = yield* machine.boot({ pace: "demand" })
    const space = yield* kernel.space("test", { create: true })
    yield* space.signal({ signal: "/signals/work" })
    yield* turns()
    assert.strictEqual(yield* space.get("/data/ended"), "run/wait-cancelled")
    assert.isUndefined(kernel.due("test"))
  }).pipe(Effect.scoped))
})
