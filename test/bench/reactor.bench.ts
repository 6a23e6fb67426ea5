/**
 * The cost of requests: each is asked by a run, submitted once its beat is durable, completed by a channel that does no
 * work, captured, and handled by the asking enzyme. So many are in flight at once.
 *
 * The baseline calls the function of the channel directly and awaits it, as often.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { type Channel, defaults, Enzyme, type IoResult, Kernel, Reactor, type Space } from "systole"
import memory from "../../plugins/memory.ts"
import sqlite from "../../plugins/sqlite.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import * as BenchKernel from "./BenchKernel.ts"

const IN_FLIGHT = [1, 64, 1024]

/** The requests of one round. */
const requestsOf = (inFlight: number): number => Math.max(128, inFlight * 2)

const noop: Channel.Channel = {
  id: "noop",
  provider: "noop",
  hosts: ["node", "deno", "bun"],
  jobs: 1024,
  opcodes: { call: { repeatable: true } },
  execute: ({ payload }) => ({ value: payload })
}

const folder = mkdtempSync(join(tmpdir(), "systole-bench-"))
const scope = Scope.makeUnsafe()

const settings = { retention: { journalBytes: 64 * 1_048_576 }, limits: { ...defaults, finishedCount: 1000 } }

/** A space, with the call that hears the results of its requests. */
interface Asking {
  readonly space: Space
  heard: (result: IoResult) => void
}

/** A space with beats on demand, over one of the first-party stores. */
const open = (provider: typeof memory, name: string): Promise<Asking> => {
  const reactor = Reactor.native([noop])
  const layer = BenchKernel.layer(BenchKernel.stored(provider, join(folder, name)), { reactor, settings })
  return Effect.runPromise(Effect.gen(function*() {
    const kernel = Context.get(yield* Layer.buildWithScope(layer, scope), Kernel)
    const hears = { heard: (_result: IoResult): void => {} }
    yield* kernel.register(Enzyme.make({
      name: "ask",
      query: "/signals/bench",
      match: "prefix",
      bind: ["/data/bench"],
      run: (tx, { payload, signal }) => {
        if (signal === "/signals/bench/heard") return hears.heard(payload as unknown as IoResult)
        tx.io.request({ channel: "noop", opcode: "call", payload, signal: "/signals/bench/heard" })
      }
    }))
    return Object.assign(hears, { space: yield* kernel.space("bench") })
  }))
}

const ignore = { accepted: () => {}, fail: (error: unknown) => { throw error } }

/** Makes the requests of one round. The next one of each chain begins when its predecessor's result is handled. */
const asked = (opening: Promise<Asking>, inFlight: number): Round => {
  let sent = 0
  return async () => {
    const asking = await opening
    const count = requestsOf(inFlight)
    const began = performance.now()
    await new Promise<void>((resolve) => {
      let [left, over] = [count, 0]
      const next = (): void => {
        if (left-- <= 0) return
        const n = sent++
        asking.space.post({ signal: "/signals/bench", target: `/data/bench/k${n % 20_000}`, payload: n }, ignore)
      }
      asking.heard = () => {
        if (++over === count) resolve()
        else next()
      }
      for (let i = 0; i < inFlight; i++) next()
    })
    return count / (performance.now() - began) * 1000
  }
}

/** Calls the function of the channel directly. */
const called = (inFlight: number): Round => async () => {
  const count = requestsOf(inFlight)
  const began = performance.now()
  let left = count
  const chain = async (): Promise<void> => {
    while (left-- > 0) await noop.execute({ payload: left } as unknown as Channel.Job)
  }
  await Promise.all(Array.from({ length: inFlight }, chain))
  return count / (performance.now() - began) * 1000
}

/** The latency of one request, in microseconds, by the rate of rounds with one in flight. */
const latency = (round: Round): Round => async () => 1e6 / await round()

const cases = (store: string, provider: typeof memory): ReadonlyArray<Case> => {
  const opening = open(provider, store)
  const rounds = { rounds: 9, warm: 3 }
  return [
    ...IN_FLIGHT.map((inFlight): Case => ({
      ...rounds,
      name: `${store}, ${inFlight} in flight`,
      unit: "requests/s",
      baseline: "call",
      contenders: { call: called(inFlight), request: asked(opening, inFlight) }
    })),
    {
      ...rounds,
      name: `${store}, latency`,
      unit: "µs",
      baseline: "call",
      contenders: { call: latency(called(1)), request: latency(asked(opening, 1)) }
    }
  ]
}

const bench: Bench = {
  cases: [...cases("memory", memory), ...cases("sqlite", sqlite)],
  note: "Each request takes three beats: those of its run, of its completion, and of the handling of its result.",
  close: async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench
