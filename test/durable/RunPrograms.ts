/**
 * Random programs of durable runs, their interpreter, and the reference model of what they leave.
 *
 * The model executes no segment: it says by plain rules which result each instruction has, whatever disturbs the run.
 *
 * @module
 */
import { Enzyme, Retry, type Transaction, type Value } from "systole"
import * as Random from "../support/Random.ts"

/** One instruction of a program. */
export type Op =
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "all" | "race"; readonly ms: ReadonlyArray<number> }
  | { readonly kind: "count" | "chance" | "own" | "catch" | "ask" | "refused" | "pay" | "both" }
  | { readonly kind: "answer" | "hear" | "send" | "fall" | "retry" | "drop" | "leave" }

export type Program = ReadonlyArray<Op>

const SIMPLE = [
  "sleep", "sleep", "all", "race", "count", "chance", "own", "catch", "ask", "refused", "pay", "both", "answer", "retry",
  "send", "drop", "leave"
] as const

/** The signal that runs hear at their places. */
export const HEARD = "/signals/heard"

/** The place of a run. */
export const placeOf = (run: number | string | undefined): string => `/data/runs/${run}`

/** The cell that an instruction needs before it succeeds. */
export const permitOf = (run: number | string | undefined, at: number): string => `/data/permits/${run}/${at}`

/** Draws a program. A run hears or falls, because a run that was given up hears nothing until it goes on. */
export const programOf = (draw: Random.Random): Program => {
  const kinds = [...SIMPLE, ...draw(2) === 0 ? ["hear", "hear", "hear"] as const : ["fall"] as const]
  return Array.from({ length: 2 + draw(7) }, (): Op => {
    const kind = Random.pick(draw, kinds)
    if (kind === "sleep") return { kind, ms: draw(4) }
    // Distinct lengths, so that the winner of a race is the same whenever the space looks.
    if (kind === "all" || kind === "race") return { kind, ms: Random.shuffled(draw, [1, 5, 20].slice(0, 2 + draw(2))) }
    return { kind }
  })
}

/** A run in progress. */
interface Performed {
  readonly tx: Transaction
  readonly run: string
  readonly at: number
}

const codeOf = (error: unknown): string => (error as { readonly code: string }).code

const ask = ({ at, run, tx }: Performed, opcode: string): Promise<Value> =>
  tx.io.request({ channel: "bank", opcode, payload: { run, at, opcode } }).then(({ value }) => value as Value, codeOf)

/** Executes one instruction. */
const perform = async (op: Op, performed: Performed): Promise<Value> => {
  const { at, run, tx } = performed
  const place = placeOf(run)
  switch (op.kind) {
    case "sleep":
      await tx.sleep(op.ms)
      return op.ms
    case "all":
      return (await Promise.all(op.ms.map((ms) => tx.sleep(ms)))).length
    case "race": {
      // The longest is far away, so that no delay of the test makes it win.
      const slow = Math.max(...op.ms)
      return Promise.race(op.ms.map((ms) => tx.sleep(ms === slow ? 100_000 : ms).then(() => ms === slow ? "slow" : "quick")))
    }
    case "count":
      tx.increment("/data/count")
      return "counted"
    case "chance": {
      const [drawn, id, now] = [tx.random(), tx.id(), tx.now]
      await tx.sleep(1)
      tx.set(`${place}/drawn`, [drawn, id, now])
      return typeof drawn === "number" && tx.now > now
    }
    case "own": {
      const before = (tx.get(`${place}/own`) ?? 0) as number
      tx.set(`${place}/own`, before + 1)
      await tx.sleep(2)
      // Another run writes the same cell in this beat, so one of both runs again.
      tx.set("/data/contended", place)
      return [before, tx.get(`${place}/own`) ?? null]
    }
    case "catch":
      return Promise.all([tx.sleep(1), Promise.reject(new Error("caught"))]).then(() => "missed", (error: Error) => error.message)
    case "ask":
    case "refused":
    case "pay":
      return ask(performed, op.kind)
    case "both":
      return Promise.all([ask(performed, "ask"), ask(performed, "refused")])
    case "drop": {
      const request = tx.io.request({ channel: "bank", opcode: "ask", payload: { run, at, opcode: "ask" } })
      const ended = request.then(({ value }) => value as Value, codeOf)
      await tx.sleep(2)
      request.cancel()
      return ended
    }
    case "leave":
      void tx.io.request({ channel: "bank", opcode: "ask", payload: { run, at, opcode: "ask" } })
      return "left"
    case "answer": {
      // The answer comes before the run waits for it.
      tx.hear(HEARD, `${place}/${at}`)
      tx.signal({ signal: HEARD, target: `${place}/${at}`, payload: at })
      await tx.sleep(3)
      return (await tx.waitForSignal(HEARD, `${place}/${at}`)).payload
    }
    case "send": {
      // The run itself hears the first one, and nothing takes the other.
      const targets = [`${place}/${at}/heard`, `${place}/${at}/lost`] as const
      tx.hear(HEARD, targets[0])
      const ends = targets.map((target) => tx.waitForEvent(tx.signal({ signal: HEARD, target })))
      await tx.sleep(at % 2)
      return (await Promise.all(ends)).map(({ status }) => status)
    }
    case "hear":
      return (await tx.waitForSignal(HEARD, place)).payload
    default: {
      await tx.sleep(1)
      if (tx.get(permitOf(run, at)) !== undefined) return op.kind
      if (op.kind === "retry") throw new Retry({ reason: "not yet" })
      throw new RangeError("no permit")
    }
  }
}

/** The enzyme that executes the program of its event. */
export const interpreter = (options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({
    name: "interpret",
    query: "/signals/interpret/:run",
    durable: true,
    retry: { attempts: 100 },
    hears: ({ params }) => [{ signal: HEARD, target: placeOf(params["run"]) }],
    ...options,
    run: async (tx, { params, payload }) => {
      const { run = "" } = params
      const results: Array<Value> = []
      tx.set(`${placeOf(run)}/results`, [])
      for (const [at, op] of (payload as Program).entries()) {
        results.push(await perform(op, { tx, run, at }))
        tx.set(`${placeOf(run)}/results`, [...results])
      }
      return results
    }
  })

/** The number of instructions of a kind among the first ones of a program. */
const countOf = (program: Program, kinds: ReadonlyArray<Op["kind"]>, end = program.length): number =>
  program.slice(0, end).filter(({ kind }) => kinds.includes(kind)).length

/** The right results of an instruction. A payment may be interrupted by a restart, and is not made again. */
const rightOf = (program: Program, run: number, at: number): ReadonlyArray<Value> => {
  const op = program[at]
  const answer = `${run} ${at}`
  switch (op?.kind) {
    case "sleep":
      return [op.ms]
    case "all":
      return [op.ms.length]
    case "race":
      return ["quick"]
    case "count":
      return ["counted"]
    case "chance":
      return [true]
    case "own": {
      const before = countOf(program, ["own"], at)
      return [[before, before + 1]]
    }
    case "catch":
      return ["caught"]
    case "ask":
      return [answer]
    case "refused":
      return ["bank/refused"]
    case "pay":
      return [answer, "io/interrupted"]
    case "both":
      return [[answer, "bank/refused"]]
    case "drop":
      return [answer, "io/cancelled"]
    case "leave":
      return ["left"]
    case "answer":
      return [at]
    case "send":
      return [["handled", "no-match"]]
    case "hear":
      return [countOf(program, ["hear"], at)]
    default:
      return [op?.kind]
  }
}

/** The instructions of a program that need a permit. */
export const permitted = (program: Program): ReadonlyArray<number> =>
  program.flatMap(({ kind }, at) => kind === "fall" || kind === "retry" ? [at] : [])

/** The reference model of finished programs. */
export const model = {
  /** The wrong results of a run, with the right ones. */
  wrong: (program: Program, run: number, results: ReadonlyArray<Value>): ReadonlyArray<unknown> =>
    Array.from({ length: Math.max(program.length, results.length) }, (_, at) => at).flatMap((at) => {
      const [right, found] = [rightOf(program, run, at), JSON.stringify(results[at])]
      return right.some((value) => JSON.stringify(value) === found) ? [] : [{ run, at, op: program[at]?.kind, found, right }]
    }),
  /** The number of counted increments of all runs. */
  counted: (programs: ReadonlyArray<Program>): number => programs.reduce((sum, program) => sum + countOf(program, ["count"]), 0),
  /** The value of a run's own counter. */
  own: (program: Program): number | undefined => countOf(program, ["own"]) || undefined,
  /** The number of signals that a run hears. */
  heard: (program: Program): number => countOf(program, ["hear"]),
  /** The number of requests that a run makes: those that it waits for, and those that may end before they are submitted. */
  requests: (program: Program): { readonly awaited: number; readonly others: number } =>
    ({ awaited: countOf(program, ["ask", "refused", "pay"]) + 2 * countOf(program, ["both"]), others: countOf(program, ["drop", "leave"]) })
}
