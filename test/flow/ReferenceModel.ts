/**
 * The reference model of flows and of the rendezvous that they spawn. It checks
 * every one of them in every beat.
 *
 * @module
 */
import { isSet, type Plan, type Spec, type Step } from "./Plans.ts"

/** The number and the clock time of a beat. */
export interface Time {
  readonly beat: number
  readonly clock: number
}

/** A command to flows or to the ledger of rendezvous. */
export type Action =
  | { readonly verb: "start"; readonly inst: string; readonly input: number; readonly steps: number; readonly beats: number }
  | { readonly verb: "pause" | "resume" | "cancel"; readonly inst: string }
  | { readonly verb: "budget"; readonly inst: string; readonly steps: number; readonly beats: number }
  | { readonly verb: "spawn"; readonly key: string; readonly path: string }
  | { readonly verb: "report"; readonly key: string; readonly n: number }

/** A rendezvous. */
interface Entry {
  readonly inst: string | undefined
  readonly path: string
  readonly isEpoch: boolean
  readonly end: Time | undefined
  state: "open" | "applied" | "timeout" | "killed"
  /** Whether the event of its completion is not written yet. */
  untold: boolean
  killing: boolean
  telemetry: object
}

/** The subscription of a step. */
interface Job {
  readonly key: string | undefined
  readonly path: string
  /** Whether it receives further completions. */
  listens: boolean
  event: Heard | undefined
}

/** A completion. */
export interface Heard {
  readonly key: string
  readonly outcome: string
  readonly telemetry: object
}

/** The state of an instance. */
export interface Instance {
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
  /** The timers that the last beat set. */
  alarms: ReadonlyArray<Time>
  /** The number of pending signals to the instance. A beat takes one. */
  wakes: number
}

const isOver = ({ state }: Instance): boolean => state === "done" || state === "error" || state === "cancelled"

/** The model of one space. */
export class ReferenceModel {
  readonly instances = new Map<string, Instance>()
  readonly entries = new Map<string, Entry>()
  /** The beats that wrote the events of each key. */
  readonly events = new Map<string, Array<number>>()
  private readonly steps: ReadonlyMap<string, Step>
  private readonly first: string
  private readonly tempo: number
  private now: Time = { beat: 0, clock: 0 }
  private written = new Set<Instance>()
  private ended = new Set<string>()

  constructor({ steps }: Plan, tempo: number) {
    this.steps = new Map(steps.map((step) => [step.name, step]))
    this.first = steps[0]!.name
    this.tempo = tempo
  }

  /** Runs one beat. Returns the answer to each command. */
  beat(now: Time, actions: ReadonlyArray<Action>): ReadonlyArray<string> {
    this.now = now
    this.written = new Set()
    this.ended = new Set()
    const answers = actions.map((action) => this.ask(action))
    for (const entry of this.entries.values()) this.scan(entry)
    for (const [inst, instance] of this.instances) if (this.isWoken(instance)) this.run(inst, instance)
    for (const [key, entry] of this.entries) if (entry.untold) this.tell(key, entry)
    for (const [inst, instance] of this.instances) if (instance.alarms.some((time) => this.isReached(time))) this.fire(inst, instance)
    for (const instance of this.written) if (instance.state === "ready") instance.wakes++
    for (const entry of this.entries.values()) if (entry.state === "open" && this.ended.has(entry.inst ?? "")) entry.killing = true
    for (const instance of this.instances.values()) instance.alarms = this.times(instance)
    return answers
  }

  private ask(action: Action): string {
    switch (action.verb) {
      case "start":
        return this.start(action)
      case "spawn":
        if (this.entries.get(action.key)?.untold === true) return "rv/untold"
        this.spawn(action.key, { inst: undefined, path: action.path }, { due_off: 0 })
        return "done"
      case "report":
        return this.report(action.key, action.n)
      default:
        return this.steer(action)
    }
  }

  private start({ beats, input, inst, steps }: Action & { readonly verb: "start" }): string {
    if (this.instances.has(inst)) return "flow/exists"
    const instance: Instance = {
      input, started: this.now, state: "ready", pc: this.first, steps, end: this.after(beats), until: undefined, used: 0,
      jobs: new Map(), heard: new Map(), passed: [], alarms: [], wakes: 0
    }
    this.instances.set(inst, instance)
    this.written.add(instance)
    return "done"
  }

  private report(key: string, n: number): string {
    const entry = this.entries.get(key)
    if (entry === undefined) return "rv/absent"
    if (entry.state !== "open") return "rv/finished"
    Object.assign(entry, { state: "applied", untold: true, telemetry: { n } })
    return "done"
  }

  private steer(action: Action & { readonly verb: "pause" | "resume" | "cancel" | "budget" }): string {
    const instance = this.instances.get(action.inst)
    if (instance === undefined) return "flow/absent"
    if (isOver(instance)) return "flow/state"
    if (action.verb === "budget") {
      Object.assign(instance, { steps: action.steps, end: this.after(action.beats) })
      if (instance.state === "waiting") instance.state = "ready"
    } else if (action.verb === "cancel") this.end(action.inst, instance, "cancelled")
    else if ((action.verb === "resume") !== (instance.state === "paused")) return "flow/state"
    else instance.state = action.verb === "resume" ? "ready" : "paused"
    this.written.add(instance)
    return "done"
  }

  private spawn(key: string, of: Pick<Entry, "inst" | "path">, { deadl_off, due_off, prof }: Spec): void {
    this.entries.set(key, {
      ...of,
      isEpoch: prof !== undefined,
      end: deadl_off === undefined ? undefined : this.after(due_off),
      state: "open",
      untold: false,
      killing: false,
      telemetry: {}
    })
  }

  private scan(entry: Entry): void {
    if (entry.state !== "open") return
    const state = entry.killing ? "killed" : entry.end !== undefined && this.isReached(entry.end) ? "timeout" : "open"
    if (state !== "open") Object.assign(entry, { state, untold: true, killing: false })
  }

  /** Takes one pending signal of an instance. Returns false if there is none. */
  private isWoken(instance: Instance): boolean {
    if (instance.wakes === 0) return false
    instance.wakes--
    return true
  }

  private run(inst: string, instance: Instance): void {
    if (instance.state !== "ready") return
    while (instance.state === "ready") {
      if (this.isSpent(instance)) instance.state = "error"
      else this.take(inst, instance, this.steps.get(instance.pc)!)
    }
    if (isOver(instance)) this.end(inst, instance, instance.state)
    this.written.add(instance)
  }

  private isSpent({ end, steps, used }: Instance): boolean {
    return (steps > 0 && used >= steps) || (end !== undefined && this.isReached(end))
  }

  private take(inst: string, instance: Instance, step: Step): void {
    const { name, next, otherwise } = step
    if (step.kind === "wait") return this.wait(instance, step)
    if (step.kind === "clamp") {
      const { beats, steps } = step
      const isBeyond =
        (steps !== undefined && instance.used >= steps) || (beats !== undefined && this.isReached(this.after(beats, instance.started)!))
      return this.pass(instance, step, isBeyond ? otherwise : next)
    }
    if (step.kind === "guard" || step.kind === "decide") {
      return this.pass(instance, step, isSet(instance.input, step.bit) ? next : otherwise)
    }
    const key = `${inst}.${name}`
    this.spawn(key, { inst, path: "" }, step.spec)
    instance.jobs.set(name, { key, path: "", listens: true, event: undefined })
    this.pass(instance, step, next)
  }

  private wait(instance: Instance, step: Step & { readonly kind: "wait" }): void {
    const { name, next, otherwise, path, source, within } = step
    if (source === undefined && !instance.jobs.has(name)) instance.jobs.set(name, { key: undefined, path, listens: true, event: undefined })
    const job = instance.jobs.get(source ?? name)
    if (job === undefined) instance.state = "error"
    else if (job.event !== undefined) {
      instance.heard.set(name, job.event)
      job.event = undefined
      this.pass(instance, step, next)
    } else if (instance.until !== undefined && this.isReached(instance.until)) this.pass(instance, step, otherwise)
    else {
      instance.state = "waiting"
      instance.until ??= within === undefined ? undefined : this.after(within)
    }
  }

  private pass(instance: Instance, { name }: Step, goal: string): void {
    instance.used++
    instance.until = undefined
    instance.passed.push(name)
    if (goal === "done" || goal === "error") instance.state = goal
    else instance.pc = goal
  }

  /** Ends an instance and its subscriptions. The scan of the next beat kills its rendezvous. */
  private end(inst: string, instance: Instance, state: Instance["state"]): void {
    instance.state = state
    for (const job of instance.jobs.values()) job.listens = false
    this.ended.add(inst)
  }

  private tell(key: string, entry: Entry): void {
    entry.untold = false
    this.events.set(key, [...this.events.get(key) ?? [], this.now.beat])
    for (const instance of this.instances.values()) {
      for (const job of instance.jobs.values()) {
        if (!job.listens || (job.key === undefined ? job.path !== entry.path : job.key !== key)) continue
        job.event = { key, outcome: entry.state, telemetry: entry.telemetry }
        job.listens = job.key !== undefined && entry.isEpoch
        if (instance.state === "waiting") instance.state = "ready"
        this.written.add(instance)
      }
    }
    if (entry.isEpoch && entry.state === "applied") entry.state = "open"
  }

  /** Fires the timers of an instance: a spent budget ends it, and an expired wait step continues in the next beat. */
  private fire(inst: string, instance: Instance): void {
    if (instance.state !== "ready" && instance.state !== "waiting") return
    const isLate = instance.state === "waiting" && instance.until !== undefined && this.isReached(instance.until)
    if (this.isSpent(instance)) this.end(inst, instance, "error")
    else if (isLate) instance.state = "ready"
    if (isLate) this.written.add(instance)
  }

  private times({ end, state, until }: Instance): ReadonlyArray<Time> {
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
