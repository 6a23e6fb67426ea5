/**
 * Programs: the bodies of simulated handlers, as data.
 *
 * A signal carries its program, so a failing one shrinks instruction by instruction.
 *
 * @module
 */
import type { Event, Transaction } from "systole"
import * as Random from "../support/Random.ts"
import { present } from "../support/Present.ts"
import type { Tell } from "./Bank.ts"
import * as Derived from "./Derived.ts"
import * as Ledgers from "./Ledgers.ts"
import { Running } from "./Running.ts"

/** The ways in which a run adds its mark to a log: it reads the log, decides where its mark goes, and writes it. */
const ways = ["value", "field", "keys", "names", "link"] as const
export type Way = typeof ways[number]

/** The number of logs of each kind in each space. */
export const LOGS = 3

/** The signals that durable runs wait for. */
export const wakes = [0, 1].map((n) => ({ signal: `/signals/wake/${n}`, target: "/data/wake" }))

/** The own id of the signal of a step. */
export const ownId = (step: number): string => `e${step}`

/** One instruction. Some have programs of their own. */
export type Instruction =
  | Ledgers.Work
  | { readonly do: "mark"; readonly log: number; readonly way: Way }
  | { readonly do: "derived"; readonly node: number }
  | { readonly do: "fail"; readonly attempts: number; readonly again: boolean }
  | { readonly do: "send"; readonly space: number; readonly enzyme: number; readonly ms: number; readonly body: Program }
  | { readonly do: "hand"; readonly enzyme: number; readonly ms: number; readonly body: Program }
  | { readonly do: "operate"; readonly body: Program; readonly isClosed: boolean }
  | { readonly do: "spy"; readonly body: Program; readonly other: Program }
  | { readonly do: "sleep"; readonly ms: number }
  | { readonly do: "decide"; readonly log: number; readonly way: Way; readonly ms: number }
  | { readonly do: "wait"; readonly wake: number }
  | { readonly do: "pay"; readonly timeoutMs: number }
  | { readonly do: "all" | "race"; readonly branches: ReadonlyArray<Program> }
  | { readonly do: "finally" | "undo"; readonly body: Program; readonly last: Program }

export type Program = ReadonlyArray<Instruction>
export type Kind = Instruction["do"]

/** The world as a program sees it beyond its space. */
export interface Outside extends Tell {
  readonly spaces: ReadonlyArray<string>
  readonly enzymes: ReadonlyArray<string>
  readonly versions: ReadonlyArray<Derived.Versions>
  /** Whether nobody sets the clock of a host. */
  readonly isSteady: boolean
}

/** The enzyme of a run, and the world around it. */
export interface About {
  readonly enzyme: string
  readonly outside: Outside
}

/** Executes one instruction; returns the promise that a durable run awaits. */
const execute = (running: Running, instruction: Instruction, path: string): PromiseLike<unknown> | undefined => {
  const { event, outside, tx } = running
  outside.count(`program ${instruction.do}`)
  switch (instruction.do) {
    case "mark": return void running.decide(instruction, path)()
    case "decide": return running.decideLate(instruction, path)
    case "derived": return void running.derived(instruction.node)
    case "fail": return void running.fail(instruction)
    case "send": return void running.send(instruction)
    case "hand": return running.hand(instruction)
    case "operate": return void running.operate(instruction)
    case "spy": return go(running, running.spy(instruction), `${path}.s`)
    case "sleep": return sleep(running, instruction.ms)
    case "wait": {
      const { signal, target } = present(wakes[instruction.wake])
      return tx.waitForSignal(signal, target)
    }
    case "pay": {
      const limit = instruction.timeoutMs > 0 ? { timeoutMs: instruction.timeoutMs } : {}
      return tx.io.request({ channel: "bank", opcode: "pay", payload: `${event.id}.${path}`, ...limit })
    }
    case "all": return Promise.all(instruction.branches.map((branch, i) => go(running, branch, `${path}.${i}.`)))
    case "race": return Promise.race(instruction.branches.map((branch, i) => go(running, branch, `${path}.${i}.`)))
    case "finally": return go(running, instruction.body, `${path}.b`).finally(() => go(running, instruction.last, `${path}.l`))
    case "undo": return go(running, instruction.body, `${path}.b`).catch(async (error: unknown) => {
      await go(running, instruction.last, `${path}.l`)
      throw error
    })
    default: return Ledgers.run(running, instruction, path)
  }
}

/** Sleeps no shorter than it says. */
const sleep = async ({ outside, tx }: Running, ms: number): Promise<void> => {
  const before = tx.now
  await tx.sleep(ms)
  if (outside.isSteady && tx.now < before + ms) outside.wrong(`beat ${tx.beat}: a sleep of ${ms} ms took ${tx.now - before} ms`)
}

const go = async (running: Running, program: Program, path: string): Promise<void> => {
  for (const [i, instruction] of program.entries()) {
    const pending = execute(running, instruction, `${path}${i}`)
    if (pending !== undefined) await pending
  }
}

/** Runs a program in a durable run. */
export const run = (tx: Transaction, event: Event, about: About): Promise<void> =>
  go(new Running(tx, event, about), event.payload as unknown as Program, "")

const atOnce = (running: Running, program: Program, path: string): void =>
  program.forEach((instruction, i) => {
    if (instruction.do === "spy") atOnce(running, running.spy(instruction), `${path}${i}.s`)
    else void execute(running, instruction, `${path}${i}`)
  })

/** Runs a program without awaits. */
export const runAtOnce = (tx: Transaction, event: Event, about: About): void => {
  const running = new Running(tx, event, about)
  const program = event.payload as unknown as Program
  atOnce(running, program, "")
}

/** The instructions that need a durable run, and those with programs of their own. */
const durable: ReadonlySet<Kind> =
  new Set<Kind>(["sleep", "decide", "hand", "wait", "pay", "all", "race", "finally", "undo", ...Ledgers.durable])
const nested: ReadonlySet<Kind> = new Set<Kind>(["all", "race", "finally", "undo", "send", "hand", "operate", "spy"])

/** The bounds of a drawn program. */
interface Bounds {
  readonly kinds: ReadonlySet<Kind>
  readonly isDurable: boolean
  readonly spaces: number
  readonly depth?: number
}

/** The programs below an instruction: with the awaits of its own program, or without any. */
interface Below {
  readonly body: () => Program
  readonly plain: () => Program
  readonly spaces: number
}

/** The makers of instructions, by kind. */
const makers: Readonly<Record<string, (draw: Random.Random, below: Below) => Instruction>> = {
  mark: (draw) => ({ do: "mark", log: draw(LOGS), way: Random.pick(draw, ways) }),
  derived: (draw) => ({ do: "derived", node: draw(Derived.PROMPT) }),
  fail: (draw) => ({ do: "fail", attempts: draw(4), again: draw(2) === 0 }),
  send: (draw, { plain, spaces }) =>
    ({ do: "send", space: draw(spaces), enzyme: draw(16), ms: Random.pick(draw, [0, 0, 20, 3000]), body: plain() }),
  hand: (draw, { plain }) => ({ do: "hand", enzyme: draw(16), ms: Random.pick(draw, [0, 0, 20, 3000]), body: plain() }),
  operate: (draw, { plain }) => ({ do: "operate", body: plain(), isClosed: draw(2) === 0 }),
  spy: (_, { body }) => ({ do: "spy", body: body(), other: body() }),
  sleep: (draw) => ({ do: "sleep", ms: Random.pick(draw, [0, 1, 10, 1000, 60_000]) }),
  decide: (draw) => ({ do: "decide", log: draw(LOGS), way: Random.pick(draw, ways), ms: Random.pick(draw, [0, 1, 10, 1000]) }),
  wait: (draw) => ({ do: "wait", wake: draw(wakes.length) }),
  pay: (draw) => ({ do: "pay", timeoutMs: Random.pick(draw, [0, 0, 5, 500]) }),
  all: (draw, { body }) => ({ do: "all", branches: Array.from({ length: 1 + draw(3) }, body) }),
  race: (draw, { body }) => ({ do: "race", branches: Array.from({ length: 2 + draw(2) }, body) }),
  finally: (_, { body }) => ({ do: "finally", body: body(), last: body() }),
  undo: (_, { body }) => ({ do: "undo", body: body(), last: body() }),
  ...Ledgers.makers
}

/** Every kind of instruction. */
export const kinds = Object.keys(makers) as ReadonlyArray<Kind>

/** Draws a program. */
export const draw = (random: Random.Random, bounds: Bounds): Program => {
  const { depth = 0, isDurable, kinds: allowed, spaces } = bounds
  const program = (awaits: boolean) => (): Program => draw(random, { ...bounds, isDurable: awaits, depth: depth + 1 })
  const choices = kinds.filter((kind) => allowed.has(kind) && (isDurable || !durable.has(kind)) && (depth < 2 || !nested.has(kind)))
  if (choices.length === 0) return []
  const below = { body: program(isDurable), plain: program(false), spaces }
  return Array.from({ length: 1 + random(4) }, () => present(makers[Random.pick(random, choices)])(random, below))
}

/** The marks that a program makes when it ends well, by their paths. Those of branches and of other handlings do not count. */
export const marksOf = (program: Program): ReadonlyArray<string> =>
  program.flatMap((instruction, i) => instruction.do === "mark" || instruction.do === "decide" ? [String(i)] : [])
