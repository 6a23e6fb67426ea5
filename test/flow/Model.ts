/**
 * The reference model of flows and of the rendezvous that they spawn: every one
 * of them looked at in every beat.
 *
 * @module
 */
import { isSet, type Plan, type Spec, type Step } from "./Plans.ts"

/** A beat, by its number and its clock. */
export interface Time {
  readonly beat: number
  readonly clock: number
}

/** What is asked from outside. */
export type Action =
  | { readonly verb: "start"; readonly inst: string; readonly input: number; readonly steps: number; readonly beats: number }
  | { readonly verb: "pause" | "resume" | "cancel"; readonly inst: string }
  | { readonly verb: "budget"; readonly inst: string; readonly steps: number; readonly beats: number }
  | { readonly verb: "spawn"; readonly key: string; readonly path: string }
  | { readonly verb: "report"; readonly key: string; readonly n: number }

/** A rendezvous. */
interface Line {
  readonly inst: string | undefined
  readonly path: string
  readonly isEpoch: boolean
  readonly end: Time | undefined
  state: "open" | "applied" | "timeout" | "killed"
  /** Whether it completed in this beat, which is not told yet. */
  untold: boolean
  killing: boolean
  telemetry: object
}

/** What a step hears of. */
interface Job {
  readonly key: string | undefined
  readonly path: string
  /** Whether it hears of further completions. */
  listens: boolean
  event: Heard | undefined
}

/** A completion. */
export interface Heard {
  readonly key: string
  readonly outcome: string
  readonly telemetry: object
}

/** An instance. */
export interface Life {
  readonly input: number
  readonly started: Time
  state: "ready" | "waiting" | "paused" | "done" | "error" | "cancelled"
  pc: string
  steps: number
  end: Time | undefined
  until: Time | undefined
  used: number
  readonly jobs: Map<string, Job>
  readonly heard: Map<string, Heard>
  readonly passed: Array<string>
  /** The times that it waits for since the last beat, and how many signals it has before it, of which a beat takes one. */
  alarms: ReadonlyArray<Time>
  wakes: number
}

const isOver = ({ state }: Life): boolean => state === "done" || state === "error" || state === "cancelled"

/** The model of one space. */
export class Model {
  readonly lives = new Map<string, Life>()
  readonly lines = new Map<string, Line>()
  /** The beats of each key's events. */
  readonly events = new Map<string, Array<number>>()
  private readonly steps: ReadonlyMap<string, Step>
  private readonly first: string
  private readonly tempo: number
  private now: Time = { beat: 0, clock: 0 }
  private written = new Set<Life>()
  private ended = new Set<string>()

  constructor({ steps }: Plan, tempo: number) {
    this.steps = new Map(steps.map((step) => [step.name, step]))
    this.first = steps[0]!.name
    this.tempo = tempo
  }

  /** One beat; answers what each that was asked was answered. */
  beat(now: Time, actions: ReadonlyArray<Action>): ReadonlyArray<string> {
    this.now = now
    this.written = new Set()
    this.ended = new Set()
    const answers = actions.map((action) => this.ask(action))
    for (const line of this.lines.values()) this.scan(line)
    for (const [inst, life] of this.lives) if (this.isWoken(life)) this.run(inst, life)
    for (const [key, line] of this.lines) if (line.untold) this.tell(key, line)
    for (const [inst, life] of this.lives) if (life.alarms.some((time) => this.isReached(time))) this.come(inst, life)
    for (const life of this.written) if (life.state === "ready") life.wakes++
    for (const line of this.lines.values()) if (line.state === "open" && this.ended.has(line.inst ?? "")) line.killing = true
    for (const life of this.lives.values()) life.alarms = this.times(life)
    return answers
  }

  private ask(action: Action): string {
    switch (action.verb) {
      case "start":
        return this.start(action)
      case "spawn":
        if (this.lines.get(action.key)?.untold === true) return "rv/untold"
        this.spawn(action.key, { inst: undefined, path: action.path }, { due_off: 0 })
        return "done"
      case "report":
        return this.report(action.key, action.n)
      default:
        return this.steer(action)
    }
  }

  private start({ beats, input, inst, steps }: Action & { readonly verb: "start" }): string {
    if (this.lives.has(inst)) return "flow/exists"
    const life: Life = {
      input, started: this.now, state: "ready", pc: this.first, steps, end: this.after(beats), until: undefined, used: 0,
      jobs: new Map(), heard: new Map(), passed: [], alarms: [], wakes: 0
    }
    this.lives.set(inst, life)
    this.written.add(life)
    return "done"
  }

  private report(key: string, n: number): string {
    const line = this.lines.get(key)
    if (line === undefined) return "rv/absent"
    if (line.state !== "open") return "rv/finished"
    Object.assign(line, { state: "applied", untold: true, telemetry: { n } })
    return "done"
  }

  private steer(action: Action & { readonly verb: "pause" | "resume" | "cancel" | "budget" }): string {
    const life = this.lives.get(action.inst)
    if (life === undefined) return "flow/absent"
    if (isOver(life)) return "flow/state"
    if (action.verb === "budget") {
      Object.assign(life, { steps: action.steps, end: this.after(action.beats) })
      if (life.state === "waiting") life.state = "ready"
    } else if (action.verb === "cancel") this.end(action.inst, life, "cancelled")
    else if ((action.verb === "resume") !== (life.state === "paused")) return "flow/state"
    else life.state = action.verb === "resume" ? "ready" : "paused"
    this.written.add(life)
    return "done"
  }

  private spawn(key: string, of: Pick<Line, "inst" | "path">, { deadl_off, due_off, prof }: Spec): void {
    this.lines.set(key, { ...of, isEpoch: prof !== undefined, end: deadl_off === undefined ? undefined : this.after(due_off), state: "open", untold: false, killing: false, telemetry: {} })
  }

  private scan(line: Line): void {
    if (line.state !== "open") return
    const state = line.killing ? "killed" : line.end !== undefined && this.isReached(line.end) ? "timeout" : "open"
    if (state !== "open") Object.assign(line, { state, untold: true, killing: false })
  }

  /** What reaches an instance waits in one queue, of which a beat takes one. */
  private isWoken(life: Life): boolean {
    if (life.wakes === 0) return false
    life.wakes--
    return true
  }

  private run(inst: string, life: Life): void {
    if (life.state !== "ready") return
    while (life.state === "ready") {
      if (this.isSpent(life)) life.state = "error"
      else this.take(inst, life, this.steps.get(life.pc)!)
    }
    if (isOver(life)) this.end(inst, life, life.state)
    this.written.add(life)
  }

  private isSpent({ end, steps, used }: Life): boolean {
    return (steps > 0 && used >= steps) || (end !== undefined && this.isReached(end))
  }

  private take(inst: string, life: Life, step: Step): void {
    const { name, next, otherwise } = step
    if (step.kind === "wait") return this.wait(life, step)
    if (step.kind === "clamp") {
      const { beats, steps } = step
      const isBeyond = (steps !== undefined && life.used >= steps) || (beats !== undefined && this.isReached(this.after(beats, life.started)!))
      return this.pass(life, step, isBeyond ? otherwise : next)
    }
    if (step.kind === "guard" || step.kind === "decide") return this.pass(life, step, isSet(life.input, step.bit) ? next : otherwise)
    const key = `${inst}.${name}`
    this.spawn(key, { inst, path: "" }, step.spec)
    life.jobs.set(name, { key, path: "", listens: true, event: undefined })
    this.pass(life, step, next)
  }

  private wait(life: Life, step: Step & { readonly kind: "wait" }): void {
    const { name, next, otherwise, path, source, within } = step
    if (source === undefined && !life.jobs.has(name)) life.jobs.set(name, { key: undefined, path, listens: true, event: undefined })
    const job = life.jobs.get(source ?? name)
    if (job === undefined) life.state = "error"
    else if (job.event !== undefined) {
      life.heard.set(name, job.event)
      job.event = undefined
      this.pass(life, step, next)
    } else if (life.until !== undefined && this.isReached(life.until)) this.pass(life, step, otherwise)
    else {
      life.state = "waiting"
      life.until ??= within === undefined ? undefined : this.after(within)
    }
  }

  private pass(life: Life, { name }: Step, goal: string): void {
    life.used++
    life.until = undefined
    life.passed.push(name)
    if (goal === "done" || goal === "error") life.state = goal
    else life.pc = goal
  }

  /** Who is over hears nothing more, and what it spawned is ended by the scan of the next beat. */
  private end(inst: string, life: Life, state: Life["state"]): void {
    life.state = state
    for (const job of life.jobs.values()) job.listens = false
    this.ended.add(inst)
  }

  private tell(key: string, line: Line): void {
    line.untold = false
    this.events.set(key, [...this.events.get(key) ?? [], this.now.beat])
    for (const life of this.lives.values()) {
      for (const job of life.jobs.values()) {
        if (!job.listens || (job.key === undefined ? job.path !== line.path : job.key !== key)) continue
        job.event = { key, outcome: line.state, telemetry: line.telemetry }
        job.listens = job.key !== undefined && line.isEpoch
        if (life.state === "waiting") life.state = "ready"
        this.written.add(life)
      }
    }
    if (line.isEpoch && line.state === "applied") line.state = "open"
  }

  /** Whoever's budget ends is over, whatever it does; whoever's Wait is over goes on in the next beat. */
  private come(inst: string, life: Life): void {
    if (life.state !== "ready" && life.state !== "waiting") return
    const isLate = life.state === "waiting" && life.until !== undefined && this.isReached(life.until)
    if (this.isSpent(life)) this.end(inst, life, "error")
    else if (isLate) life.state = "ready"
    if (isLate) this.written.add(life)
  }

  private times({ end, state, until }: Life): ReadonlyArray<Time> {
    if (state !== "ready" && state !== "waiting") return []
    return [end, state === "waiting" ? until : undefined].filter((time) => time !== undefined)
  }

  private after(beats: number, { beat, clock }: Time = this.now): Time | undefined {
    return beats === 0 ? undefined : { beat: beat + beats, clock: clock + beats * this.tempo }
  }

  private isReached({ beat, clock }: Time): boolean {
    return this.now.beat >= beat && this.now.clock >= clock
  }
}
