/**
 * A script of completions over scripted channels: `HostScript.ts SEED…` executes it for each seed, and prints the digests of
 * the journals as JSON. Each host prints the same.
 *
 * Ordinary runs and durable ones make requests, which complete, fail, are attempted again, cancelled, late or taken over by
 * a restart. The order of all of it follows from the seed.
 *
 * @module
 */
import { Effect } from "effect"
import * as TestClock from "effect/testing/TestClock"
import process from "node:process"
import { Channel, Enzyme, type IoResult, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import type { Request } from "../../src/reactor/Request.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import * as Random from "../support/Random.ts"

/** The journal of one seed. */
export interface HostJournal {
  readonly seed: number
  /** The beginnings of the digests of its entries. Each digest covers the entries before. */
  readonly hashes: ReadonlyArray<string>
  /** The ends of its requests: the state and the code, with their numbers. */
  readonly ends: Readonly<Record<string, number>>
  /** The outcomes of its handlings, with their numbers. */
  readonly outcomes: Readonly<Record<string, number>>
}

const STEPS = 90
const NAME = "script"

const channels = {
  bank: { opcodes: { charge: { repeatable: true }, pay: {} } },
  mail: { opcodes: { send: {}, look: { repeatable: true } }, budget: 6 }
}

const ask = Enzyme.make({
  name: "ask",
  query: "/signals/ask",
  match: "prefix",
  run: (tx, { payload, signal }) => {
    if (signal === "/signals/ask/done") return tx.append("/data/heard", (payload as unknown as IoResult).state)
    const { channel, opcode, ...options } = payload as { readonly channel: string; readonly opcode: string }
    tx.set("/data/chance", [tx.random(), tx.id(), tx.now, Math.sqrt(tx.beat)])
    return tx.io.request({ channel, opcode, ...options, payload: new Map([["n", 0.1 + tx.beat]]), signal: "/signals/ask/done" })
  }
})

const cancel = Enzyme.make({ name: "cancel", query: "/signals/cancel", run: (tx, { payload }) => tx.io.cancel(String(payload)) })

/** Races, waits for all, hears, compensates, and gives up. */
const durable = Enzyme.make({
  name: "durable",
  query: "/signals/durable/:n",
  durable: true,
  order: "loose",
  retry: { attempts: 2 },
  run: async (tx: Transaction, { params: { n = "" } }) => {
    const place = `/data/runs/${n}`
    const charge = tx.io.request({ channel: "bank", opcode: "charge", payload: [n, tx.random()] })
    const late = tx.sleep(40).then(() => "late")
    const first = await Promise.race([charge.then(({ value }) => value, (error: { readonly code: string }) => error.code), late])
    tx.set(place, [first, tx.now, tx.id()])
    tx.increment("/data/segments")
    const both = await Promise.allSettled([tx.io.request({ channel: "bank", opcode: "pay", attempts: 2 }), tx.sleep({ beats: 2 })])
    tx.hear("/signals/answer", place)
    const answer = await Promise.race([tx.waitForSignal("/signals/answer", place), tx.sleep(60).then(() => undefined)])
    if (first === "bank/closed") throw new Error("given up")
    return [first, both.map(({ status }) => status), answer?.payload]
  }
})

/** An Effect with a time-out and a schedule. */
const effectful = Enzyme.make({
  name: "effectful",
  query: "/signals/effectful",
  durable: true,
  run: (tx) => Effect.gen(function*() {
    const looked = Effect.tryPromise(() => tx.io.request({ channel: "mail", opcode: "look" }))
    const found = yield* Effect.result(Effect.timeout(Effect.retry(looked, { times: 2 }), 50))
    yield* Effect.sleep(10)
    return found._tag
  }) as Effect.Effect<unknown>
})

const failures = [
  Channel.fail("bank/closed", "closed"), Channel.fail("io/busy", "busy", { errno: -16, retryable: true }),
  new TypeError("broken"), Object.assign(new Error("reset"), { code: "ECONNRESET" })
]

const opcodes = [["bank", "charge"], ["bank", "pay"], ["mail", "send"], ["mail", "look"]] as const

/** Executes the script of one seed. */
const journal = Effect.fnUntraced(function*(seed: number) {
  const draw = Random.make(seed)
  const reactor = new TestReactor(channels)
  const machine = yield* RestartableKernel.make([ask, cancel, durable, effectful], reactor.layer)
  const boot = Effect.fnUntraced(function*() {
    reactor.crash()
    return yield* (yield* machine.boot({ tempo: 10 })).space(NAME, { create: true })
  })
  let space: Space = yield* boot()
  const post = (signal: string, more: object = {}) => Effect.ignore(space.signal({ signal, ...more }))
  const act = (kind: number, n: number): Effect.Effect<unknown, unknown> => {
    if (kind < 4) {
      const [channel, opcode] = Random.pick(draw, opcodes)
      return post("/signals/ask", { payload: { channel, opcode, ...draw(3) === 0 ? { timeoutMs: 1 + draw(40) } : {} } })
    }
    if (kind < 6) return post(`/signals/durable/${n}`)
    if (kind === 6) return post("/signals/effectful")
    if (kind === 7) return post("/signals/answer", { target: `/data/runs/${draw(n + 1)}`, payload: n })
    if (kind === 8) return Effect.flatMap(space.list("/sys/index/io"), ([rid]) => post("/signals/cancel", { payload: rid ?? "none" }))
    if (kind < 13) {
      return Effect.sync(() => {
        for (const { rid } of Random.shuffled(draw, reactor.jobs).slice(0, 2)) {
          if (draw(3) === 0) reactor.fail(rid, Random.pick(draw, failures))
          else reactor.complete(rid, { value: { rid, at: new Date(n), big: 2n ** 70n } })
        }
      })
    }
    return TestClock.adjust(draw(30))
  }
  for (let n = 0; n < STEPS; n++) {
    if (n === STEPS / 2) space = yield* boot()
    yield* act(draw(15), n)
    if (draw(2) === 0) yield* space.step
  }
  for (let n = 0; n < STEPS; n++) {
    for (const { rid } of reactor.jobs) reactor.complete(rid, { value: "end" })
    yield* TestClock.adjust(10)
    yield* space.step
  }
  return yield* described(space, seed)
})

/** The journal of a space, and the ends of its requests and handlings. */
const described = Effect.fnUntraced(function*(space: Space, seed: number) {
  const ends: Record<string, number> = {}
  const outcomes: Record<string, number> = {}
  for (const oid of yield* space.list("/rt/ops")) {
    for (const rid of yield* space.list(`/rt/ops/${oid}/io_req`)) {
      const { code, state } = (yield* space.get(`/rt/ops/${oid}/io_req/${rid}`)) as unknown as Pick<Request, "code" | "state">
      const end = code === undefined ? state : `${state} ${code}`
      ends[end] = (ends[end] ?? 0) + 1
    }
  }
  const rows = yield* space.examine(({ store }) => [...store.scanJournal(0, Infinity)])
  for (const { text } of rows) {
    for (const [, enzyme, kind] of (JSON.parse(text.split("\n")[0] ?? "") as { readonly runs: ReadonlyArray<readonly unknown[]> }).runs) {
      const outcome = `${String(enzyme)} ${typeof kind === "string" ? kind : "ok"}`
      if (!outcome.startsWith("OPS:")) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  return { seed, hashes: rows.map(({ hash }) => hash.slice(0, 16)), ends, outcomes }
})

const seeds = process.argv.slice(2).map(Number)
const journals: ReadonlyArray<HostJournal> = await Effect.runPromise(
  Effect.scoped(Effect.provide(Effect.orDie(Effect.forEach(seeds, journal)), TestClock.layer()))
)
process.stdout.write(`${JSON.stringify(journals)}\n`, () => process.exit(0))
