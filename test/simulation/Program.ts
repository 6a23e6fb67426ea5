/**
 * Programs: the bodies of simulated handlers, as data.
 *
 * A signal carries its program, so a failing one shrinks instruction by instruction.
 *
 * @module
 */
import { type Event, Retry, type Transaction, type Value } from "systole"
import * as Random from "../support/Random.ts"
import { present } from "../support/Present.ts"
import type { Tell } from "./Bank.ts"
import * as Derived from "./Derived.ts"

/** The ways in which a run adds its mark to a log: it reads the log, decides where its mark goes, and writes it. */
const ways = ["value", "field", "keys", "names", "link"] as const
type Way = typeof ways[number]

/** The number of logs of each kind in each space. */
export const LOGS = 3

/** The signals that durable runs wait for. */
export const wakes = [0, 1].map((n) => ({ signal: `/signals/wake/${n}`, target: "/data/wake" }))

/** One instruction. Some have programs of their own. */
export type Instruction =
  | { readonly do: "mark"; readonly log: number; readonly way: Way }
  | { readonly do: "derived"; readonly node: number }
  | { readonly do: "fail"; readonly attempts: number; readonly again: boolean }
  | { readonly do: "send"; readonly space: number; readonly enzyme: number; readonly ms: number; readonly body: Program }
  | { readonly do: "operate"; readonly body: Program; readonly isClosed: boolean }
  | { readonly do: "meet"; readonly due: number }
  | { readonly do: "spy"; readonly body: Program; readonly other: Program }
  | { readonly do: "sleep"; readonly ms: number }
  | { readonly do: "decide"; readonly log: number; readonly way: Way; readonly ms: number }
  | { readonly do: "wait"; readonly wake: number }
  | { readonly do: "pay"; readonly timeoutMs: number }
  | { readonly do: "all" | "race"; readonly branches: ReadonlyArray<Program> }
  | { readonly do: "finally"; readonly body: Program; readonly last: Program }

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

/** A run of a program. Derived cells do not show the writes of their own run in the same beat. */
class Running {
  readonly tx: Transaction
  readonly event: Event
  readonly outside: Outside
  private marked = -1
  /** The number of marks that the run made at each place. */
  private readonly made = new Map<string, number>()

  constructor(tx: Transaction, event: Event, outside: Outside) {
    this.tx = tx
    this.event = event
    this.outside = outside
  }

  /** Reads a log; returns the write of a mark. The write depends on the read, so a lost update loses a mark. */
  decide({ log, way }: { readonly log: number; readonly way: Way }, path: string): () => void {
    const { event, tx } = this
    const text = `${event.id}.${path}`
    const place = way === "link" ? "/data/links/0" : `/data/log/${way}/${log}`
    const key = way === "link" ? "/data/log/value/0" : place
    const before = this.made.get(key)
    const write = this.decided(place, way, text)
    return () => {
      this.marked = tx.beat
      // Another branch of the same run was faster, which no engine can notice: decide anew.
      const isOutdated = this.made.get(key) !== before
      this.made.set(key, (this.made.get(key) ?? 0) + 1)
      if (isOutdated) this.decided(place, way, text)()
      else write()
    }
  }

  private decided(place: string, way: Way, text: string): () => void {
    const { tx } = this
    if (way === "field") {
      const marks = [...marksAt(tx, `${place}#/marks`), text]
      return () => tx.merge(place, { marks })
    }
    if (way === "keys") {
      const key = tx.keys(place)?.length ?? 0
      return () => tx.set(`${place}#/${key}`, text)
    }
    if (way === "names") {
      const name = String(tx.list(place).length).padStart(6, "0")
      return () => tx.set(`${place}/${name}`, text)
    }
    const marks = [...marksAt(tx, place), text]
    return () => tx.set(place, marks)
  }

  /** Decides, sleeps, and only then writes. */
  async decideLate(instruction: Extract<Instruction, { readonly do: "decide" }>, path: string): Promise<void> {
    const write = this.decide(instruction, path)
    await this.tx.sleep(instruction.ms)
    write()
  }

  derived(node: number): void {
    const found = this.marked === this.tx.beat ? undefined : Derived.check(this.tx, node, this.outside.versions)
    if (found !== undefined) this.outside.wrong(found)
  }

  fail({ again, attempts }: { readonly again: boolean; readonly attempts: number }): void {
    if (this.event.attempt > attempts) return
    throw again ? new Retry({ reason: "not yet" }) : new Error("a program failed")
  }

  send({ body, enzyme, ms, space }: Extract<Instruction, { readonly do: "send" }>): void {
    const { enzymes, spaces } = this.outside
    const to = space === 0 ? {} : { space: present(spaces[space]) }
    const at = ms === 0 || space !== 0 ? {} : { at: { ms } }
    const name = present(enzymes[enzyme % enzymes.length])
    this.tx.signal({ signal: `/signals/${name}/0`, target: "/data/t/0", payload: body as unknown as Value, ...to, ...at })
  }

  /** The program that a secret chooses. */
  spy({ body, other }: Extract<Instruction, { readonly do: "spy" }>): Program {
    const secret = this.tx.get("/data/in/secret")
    return Number(String(secret ?? 0).at(-1)) % 2 === 0 ? body : other
  }

  operate({ body, isClosed }: Extract<Instruction, { readonly do: "operate" }>): void {
    const oid = this.tx.op.start({ verb: "op/simulated", target: "/data/t/0", mode: "opm:states" })
    this.tx.op.await(oid, "sts:ok", { signal: "/signals/plain/0", payload: body as unknown as Value })
    if (isClosed) this.tx.op.close(oid, "sts:ok")
  }
}

const marksAt = (tx: Transaction, place: string): ReadonlyArray<Value> => (tx.get(place) ?? []) as ReadonlyArray<Value>

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
    case "operate": return void running.operate(instruction)
    case "meet": return void tx.rv.spawn({ key: `${event.id.slice(0, 20)}-${path}`, due_off: instruction.due, deadl_off: 5 })
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
export const run = (tx: Transaction, event: Event, outside: Outside): Promise<void> =>
  go(new Running(tx, event, outside), event.payload as unknown as Program, "")

const atOnce = (running: Running, program: Program, path: string): void =>
  program.forEach((instruction, i) => {
    if (instruction.do === "spy") atOnce(running, running.spy(instruction), `${path}${i}.s`)
    else void execute(running, instruction, `${path}${i}`)
  })

/** Runs a program without awaits. */
export const runAtOnce = (tx: Transaction, event: Event, outside: Outside): void => {
  const running = new Running(tx, event, outside)
  const program = event.payload as unknown as Program
  atOnce(running, program, "")
}

/** The instructions that need a durable run, and those with programs of their own. */
const durable: ReadonlySet<Kind> = new Set<Kind>(["sleep", "decide", "wait", "pay", "all", "race", "finally"])
const nested: ReadonlySet<Kind> = new Set<Kind>(["all", "race", "finally", "send", "operate", "spy"])

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
const makers: Readonly<Record<Kind, (draw: Random.Random, below: Below) => Instruction>> = {
  mark: (draw) => ({ do: "mark", log: draw(LOGS), way: Random.pick(draw, ways) }),
  derived: (draw) => ({ do: "derived", node: draw(Derived.PROMPT) }),
  fail: (draw) => ({ do: "fail", attempts: draw(4), again: draw(2) === 0 }),
  send: (draw, { plain, spaces }) =>
    ({ do: "send", space: draw(spaces), enzyme: draw(16), ms: Random.pick(draw, [0, 0, 20, 3000]), body: plain() }),
  operate: (draw, { plain }) => ({ do: "operate", body: plain(), isClosed: draw(2) === 0 }),
  meet: (draw) => ({ do: "meet", due: draw(6) }),
  spy: (_, { body }) => ({ do: "spy", body: body(), other: body() }),
  sleep: (draw) => ({ do: "sleep", ms: Random.pick(draw, [0, 1, 10, 1000, 60_000]) }),
  decide: (draw) => ({ do: "decide", log: draw(LOGS), way: Random.pick(draw, ways), ms: Random.pick(draw, [0, 1, 10, 1000]) }),
  wait: (draw) => ({ do: "wait", wake: draw(wakes.length) }),
  pay: (draw) => ({ do: "pay", timeoutMs: Random.pick(draw, [0, 0, 5, 500]) }),
  all: (draw, { body }) => ({ do: "all", branches: Array.from({ length: 1 + draw(3) }, body) }),
  race: (draw, { body }) => ({ do: "race", branches: Array.from({ length: 2 + draw(2) }, body) }),
  finally: (_, { body }) => ({ do: "finally", body: body(), last: body() })
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
  return Array.from({ length: 1 + random(4) }, () => makers[Random.pick(random, choices)](random, below))
}

/** The marks that a program makes when it ends well, by their paths. Those of branches and of other handlings do not count. */
export const marksOf = (program: Program): ReadonlyArray<string> =>
  program.flatMap((instruction, i) => instruction.do === "mark" || instruction.do === "decide" ? [String(i)] : [])
