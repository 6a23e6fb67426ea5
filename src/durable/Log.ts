/**
 * The step log, read without its body: the handles that the steps leave open.
 *
 * @module
 */
import { addressOf } from "../cell/Cell.ts"
import * as Semantics from "../stage/Semantics.ts"
import type { AwaitedObject } from "./Handle.ts"
import * as Pairs from "./Pairs.ts"
import type { Call, Step } from "./Step.ts"

/** A handle without a result. */
export interface OpenHandle {
  readonly number: number
  readonly awaited: AwaitedObject
  /** Its object: the id of a request, `sleep`, `event` and its id, or a signal and its cell. */
  readonly object: string
  /** The segment that made it, and the beat of that segment. */
  readonly segment: number
  readonly beat: number
}

/** The calls that make handles. A request with a signal makes none. */
const MAKERS: ReadonlySet<string> = new Set(["sleep", "waitForSignal", "waitForEvent", "io.request", "io.fetch"])

/**
 * The state of a run after its steps, which are added in order.
 */
export class Log {
  /** The open handles, by number. */
  readonly open = new Map<number, OpenHandle>()
  /** The signals that the run hears. */
  readonly pairs = new Pairs.Pairs()
  /** The number of steps. */
  segments = 0
  /** The semantics of the beat in which the run began. */
  semantics = Semantics.NEWEST
  private made = 0
  /** The number of handles that were made before the newest step. */
  private known = 0

  /** A log with these steps. */
  static of(steps: Iterable<Step>): Log {
    const log = new Log()
    for (const step of steps) log.add(step)
    return log
  }

  add(step: Step): void {
    for (const pair of step.hears ?? none) this.pairs.hear(pair)
    this.known = this.made
    if (this.segments === 0) this.semantics = Semantics.read(step.semantics)
    const isLeft = Semantics.follows(this, "cancelledWaitsPass")
    for (const [number, outcome] of step.settled) {
      if (outcome === "failed" && isLeft) this.cancel(number)
      else this.open.delete(number)
    }
    for (const call of step.calls) this.call(call, step.beat)
    this.segments++
  }

  /** The open handles as texts, in the order of their numbers. */
  get texts(): ReadonlyArray<string> {
    return Array.from(this.open.values(), textOf)
  }

  /** The open handles that the newest step made, as texts. */
  get newest(): ReadonlyArray<string> {
    const texts: Array<string> = []
    for (let number = this.known; number < this.made; number++) {
      const handle = this.open.get(number)
      if (handle !== undefined) texts.push(textOf(handle))
    }
    return texts
  }

  private call([name, at, value]: Call, beat: number): void {
    if (name === "forget") this.open.delete(Number(at))
    if (name === "cancel") this.cancel(Number(at))
    if (name === "hear") this.pairs.hear(pairAt(at))
    if (!MAKERS.has(name) || typeof value !== "object") return
    const awaited = value as unknown as AwaitedObject
    const number = this.made++
    this.open.set(number, { number, awaited, object: this.objectOf(awaited, at), segment: this.segments, beat })
  }

  private cancel(number: number): void {
    const awaited = this.open.get(number)?.awaited
    this.open.delete(number)
    if (awaited?.kind === "signal") this.pairs.unwait(awaited.pair)
  }

  private objectOf(awaited: AwaitedObject, at: string): string {
    if (awaited.kind === "request") return awaited.rid
    if (awaited.kind === "sleep") return "sleep"
    if (awaited.kind === "event") return `event ${awaited.id}`
    const pair = pairAt(at)
    this.pairs.wait(this.pairs.hear(pair))
    return `${pair[0]} ${pair[1]}`
  }
}

const textOf = ({ number, object }: OpenHandle): string => `${number} ${object}`

/** The pair of a call. */
const pairAt = (at: string): Pairs.Pair => {
  const [signal = "", target = ""] = at.split(" ")
  return [signal, addressOf(target).key, 0]
}

const none: ReadonlyArray<Pairs.Pair> = []
