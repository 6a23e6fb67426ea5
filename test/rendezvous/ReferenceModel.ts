/**
 * The reference model of rendezvous. It checks every entry in every beat, and
 * represents each due time as a beat number and a clock time that both must be
 * reached.
 *
 * @module
 */

/** The number and the clock time of a beat. */
export interface Now {
  readonly beat: number
  readonly clock: number
}

/** The state of an entry. A clock time of 0 belongs to a due time that names a beat. */
export interface Entry {
  prof: string
  /** The number of the beat that spawned it. */
  spawned: number
  state: string
  due: number
  dueClock: number
  deadline: number
  deadlineClock: number
  grace_delta: number
  max_grace: number
  grace_used: number
  on_miss: string
  kill_mode: string
  kill_wait: number
  killClock: number
  epoch_k: number
  inst_id: string | undefined
  telemetry: unknown
}

/** A command to the ledger. */
export type Action =
  | { readonly verb: "spawn"; readonly key: string; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly verb: "report"; readonly key: string; readonly n: number }
  | { readonly verb: "kill"; readonly key: string; readonly wait: number }
  | { readonly verb: "resched"; readonly key: string; readonly delta: number }

const blank = {
  prof: "rv-fixed",
  state: "pending",
  deadline: 0,
  deadlineClock: 0,
  grace_delta: 0,
  max_grace: 0,
  grace_used: 0,
  on_miss: "timeout",
  kill_mode: "none",
  kill_wait: 0,
  killClock: 0,
  epoch_k: 0,
  inst_id: undefined,
  telemetry: {}
}

const over = (entry: Entry): boolean => ["applied", "timeout", "killed"].includes(entry.state)

/** The model of the ledger of one space. */
export class ReferenceModel {
  readonly entries = new Map<string, Entry>()
  /** Each event: its key, beat and outcome. */
  readonly events: Array<readonly [key: string, beat: number, outcome: string]> = []
  private completed = new Set<string>()
  private readonly tempo: number

  constructor(tempo: number) {
    this.tempo = tempo
  }

  /** Runs one beat: first the releases and the due entries, then the commands of its runs. Returns the answer to each of these. */
  beat(now: Now, actions: ReadonlyArray<Action>, released: ReadonlyArray<string> = []): ReadonlyArray<boolean> {
    this.completed = new Set()
    for (const key of released) this.release(key, now)
    for (const [key, entry] of this.entries) this.scan(key, entry, now)
    const answers = actions.map((action) => this.act(action, now))
    // The order of the last writes matters only for variants of one question.
    for (const key of this.written(actions)) this.choose(key)
    for (const key of this.completed) {
      const entry = this.entries.get(key)!
      if (entry.prof === "observer") continue
      this.events.push([key, now.beat, entry.state])
      if (entry.prof === "rv-epoch" && entry.state === "applied") Object.assign(
        entry,
        { state: "pending", due: now.beat + entry.epoch_k, dueClock: now.clock + entry.epoch_k * this.tempo, grace_used: 0 }
      )
    }
    return answers
  }

  /** An entry in quarantine gets its time for a report again, and all its graces. A deadline before its due time is dropped. */
  private release(key: string, now: Now): void {
    const entry = this.entries.get(key)
    if (entry?.state !== "quarantine") return
    const before = entry.due - entry.grace_used * entry.grace_delta
    const beats = Math.max(1, entry.prof === "rv-epoch" ? entry.epoch_k : before - entry.spawned)
    Object.assign(entry, { state: "ready", grace_used: 0, due: now.beat + beats, dueClock: now.clock + beats * this.tempo })
    if (entry.deadline <= entry.due && entry.deadlineClock <= entry.dueClock) Object.assign(entry, { deadline: 0, deadlineClock: 0 })
  }

  /** Delays the due time of an entry. A named beat becomes a delay from now, in beats. */
  private postpone(entry: Entry, beats: number, now: Now): void {
    if (entry.dueClock > 0) entry.dueClock += beats * this.tempo
    else if (beats > 0) entry.dueClock = now.clock + (entry.due + beats - now.beat) * this.tempo
    entry.due = Math.max(0, entry.due + beats)
  }

  private scan(key: string, entry: Entry, now: Now): void {
    if (over(entry)) return
    if (entry.kill_mode !== "none") {
      if (now.clock < entry.killClock) return
      entry.kill_wait--
      entry.killClock += this.tempo
      if (entry.kill_wait > 0) return
      Object.assign(entry, { kill_mode: "none", kill_wait: 0 })
      return this.end(key, entry, "killed")
    }
    if (entry.state === "quarantine") return
    const isWatched = entry.prof === "observer"
    if (!isWatched && entry.deadline !== 0 && now.beat >= entry.deadline && now.clock >= entry.deadlineClock) {
      return this.end(key, entry, entry.on_miss === "kill" ? "killed" : "timeout")
    }
    if (entry.state === "pending") {
      if (now.beat >= entry.due && now.clock >= entry.dueClock) entry.state = "ready"
      return
    }
    if (isWatched || now.beat <= entry.due || entry.max_grace === 0) return
    if (entry.dueClock > 0 && now.clock < entry.dueClock + this.tempo) return
    if (entry.grace_used < entry.max_grace) {
      entry.grace_used++
      this.postpone(entry, entry.grace_delta, now)
      entry.state = "late"
    } else if (entry.on_miss === "kill") this.end(key, entry, "killed")
    else if (entry.on_miss === "quarantine") entry.state = "quarantine"
    else if (entry.on_miss === "grace") entry.state = "late"
    else if (entry.on_miss === "timeout") this.end(key, entry, "timeout")
  }

  private end(key: string, entry: Entry, state: string): void {
    entry.state = state
    this.completed.add(key)
  }

  private act(action: Action, now: Now): boolean {
    const { key } = action
    if (action.verb === "spawn") {
      if (this.completed.has(key) && this.entries.get(key)!.prof !== "observer") return false
      this.entries.set(key, this.spawned(action.spec, now))
      this.completed.delete(key)
      return true
    }
    if (action.verb === "resched" && action.delta === 0) return true
    const entry = this.entries.get(key)
    const isRepeated = action.verb === "kill" && entry?.prof === "rv-epoch" && entry.state === "applied"
    if (entry === undefined || (over(entry) && !isRepeated)) return false
    if (action.verb === "resched") this.postpone(entry, action.delta, now)
    else if (action.verb === "kill") {
      Object.assign(entry, { kill_mode: "kill", kill_wait: action.wait, killClock: action.wait === 0 ? 0 : now.clock + this.tempo })
    }
    else {
      entry.telemetry = { n: action.n }
      if (entry.prof !== "observer" && entry.state !== "quarantine") this.end(key, entry, "applied")
    }
    return true
  }

  private spawned({ deadl_off, due, due_off, ...spec }: Readonly<Record<string, unknown>>, now: Now): Entry {
    const off = Number(due_off ?? 0)
    const entry = {
      ...blank,
      ...spec,
      spawned: now.beat,
      ...(due === undefined ? { due: now.beat + off, dueClock: now.clock + off * this.tempo } : { due: Number(due), dueClock: 0 })
    } as Entry
    if (deadl_off === undefined) return entry
    const end = { ...entry }
    this.postpone(end, Number(deadl_off), now)
    return { ...entry, deadline: end.due, deadlineClock: end.dueClock }
  }

  private written(actions: ReadonlyArray<Action>): ReadonlyArray<string> {
    return [...new Set(actions.map(({ key }) => key))].filter((key) => this.completed.has(key))
  }

  /** Ends the other variants when the first is applied. */
  private choose(key: string): void {
    const entry = this.entries.get(key)!
    if (entry.prof !== "spec" || entry.state !== "applied") return
    for (const [other, rival] of this.entries) {
      const isLater = over(rival) && !(this.completed.has(other) && rival.state === "applied")
      if (other === key || rival.prof !== "spec" || rival.inst_id !== entry.inst_id || isLater) continue
      Object.assign(rival, { state: "killed", kill_mode: "none", kill_wait: 0 })
      this.completed.add(other)
    }
  }
}
