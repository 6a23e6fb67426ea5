/**
 * The reference model of rendezvous. It checks
 * every entry in every beat, and represents each due time as a
 * beat number and a clock time that both must be reached.
 *
 * @module
 */

/** The number and the clock time of a beat. */
export interface Now {
  readonly beat: number
  readonly clock: number
}

/** The state of an entry. A clock time of 0 belongs to a due time that names a beat. */
export interface Line {
  prof: string
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

const over = (line: Line): boolean => ["applied", "timeout", "killed"].includes(line.state)

/** The model of the ledger of one space. */
export class ReferenceModel {
  readonly lines = new Map<string, Line>()
  /** Each event: its key, beat and outcome. */
  readonly events: Array<readonly [key: string, beat: number, outcome: string]> = []
  private completed = new Set<string>()
  private readonly tempo: number

  constructor(tempo: number) {
    this.tempo = tempo
  }

  /** Runs one beat: first the due entries, then the commands. Returns the answer to each command. */
  beat(now: Now, actions: ReadonlyArray<Action>): ReadonlyArray<boolean> {
    this.completed = new Set()
    for (const [key, line] of this.lines) this.scan(key, line, now)
    const answers = actions.map((action) => this.act(action, now))
    // The order of the last writes matters only for variants of one question.
    for (const key of this.written(actions)) this.choose(key)
    for (const key of this.completed) {
      const line = this.lines.get(key)!
      if (line.prof === "observer") continue
      this.events.push([key, now.beat, line.state])
      if (line.prof === "rv-epoch" && line.state === "applied") Object.assign(
        line,
        { state: "pending", due: now.beat + line.epoch_k, dueClock: now.clock + line.epoch_k * this.tempo, grace_used: 0 }
      )
    }
    return answers
  }

  /** Delays the due time of an entry. A named beat becomes a delay from now, in beats. */
  private postpone(line: Line, beats: number, now: Now): void {
    if (line.dueClock > 0) line.dueClock += beats * this.tempo
    else if (beats > 0) line.dueClock = now.clock + (line.due + beats - now.beat) * this.tempo
    line.due = Math.max(0, line.due + beats)
  }

  private scan(key: string, line: Line, now: Now): void {
    if (over(line)) return
    if (line.kill_mode !== "none") {
      if (now.clock < line.killClock) return
      line.kill_wait--
      line.killClock += this.tempo
      if (line.kill_wait > 0) return
      Object.assign(line, { kill_mode: "none", kill_wait: 0 })
      return this.end(key, line, "killed")
    }
    if (line.state === "quarantine") return
    const isWatched = line.prof === "observer"
    if (!isWatched && line.deadline !== 0 && now.beat >= line.deadline && now.clock >= line.deadlineClock) {
      return this.end(key, line, line.on_miss === "kill" ? "killed" : "timeout")
    }
    if (line.state === "pending") {
      if (now.beat >= line.due && now.clock >= line.dueClock) line.state = "ready"
      return
    }
    if (isWatched || now.beat <= line.due || line.max_grace === 0) return
    if (line.dueClock > 0 && now.clock < line.dueClock + this.tempo) return
    if (line.grace_used < line.max_grace) {
      line.grace_used++
      this.postpone(line, line.grace_delta, now)
      line.state = "late"
    } else if (line.on_miss === "kill") this.end(key, line, "killed")
    else if (line.on_miss === "quarantine") line.state = "quarantine"
    else if (line.on_miss === "grace") line.state = "late"
    else if (line.on_miss === "timeout") this.end(key, line, "timeout")
  }

  private end(key: string, line: Line, state: string): void {
    line.state = state
    this.completed.add(key)
  }

  private act(action: Action, now: Now): boolean {
    const { key } = action
    if (action.verb === "spawn") {
      if (this.completed.has(key) && this.lines.get(key)!.prof !== "observer") return false
      this.lines.set(key, this.spawned(action.spec, now))
      this.completed.delete(key)
      return true
    }
    if (action.verb === "resched" && action.delta === 0) return true
    const line = this.lines.get(key)
    const isRepeated = action.verb === "kill" && line?.prof === "rv-epoch" && line.state === "applied"
    if (line === undefined || (over(line) && !isRepeated)) return false
    if (action.verb === "resched") this.postpone(line, action.delta, now)
    else if (action.verb === "kill") {
      Object.assign(line, { kill_mode: "kill", kill_wait: action.wait, killClock: action.wait === 0 ? 0 : now.clock + this.tempo })
    }
    else {
      line.telemetry = { n: action.n }
      if (line.prof !== "observer" && line.state !== "quarantine") this.end(key, line, "applied")
    }
    return true
  }

  private spawned({ deadl_off, due, due_off, ...spec }: Readonly<Record<string, unknown>>, now: Now): Line {
    const off = Number(due_off ?? 0)
    const line = {
      prof: "rv-fixed", state: "pending", deadline: 0, deadlineClock: 0, grace_delta: 0, max_grace: 0, grace_used: 0, on_miss: "timeout", kill_mode: "none",
      kill_wait: 0, killClock: 0, epoch_k: 0, inst_id: undefined, telemetry: {}, ...spec,
      ...(due === undefined ? { due: now.beat + off, dueClock: now.clock + off * this.tempo } : { due: Number(due), dueClock: 0 })
    } as Line
    if (deadl_off === undefined) return line
    const end = { ...line }
    this.postpone(end, Number(deadl_off), now)
    return { ...line, deadline: end.due, deadlineClock: end.dueClock }
  }

  private written(actions: ReadonlyArray<Action>): ReadonlyArray<string> {
    return [...new Set(actions.map(({ key }) => key))].filter((key) => this.completed.has(key))
  }

  /** Ends the other variants when the first is applied. */
  private choose(key: string): void {
    const line = this.lines.get(key)!
    if (line.prof !== "spec" || line.state !== "applied") return
    for (const [other, rival] of this.lines) {
      const isLater = over(rival) && !(this.completed.has(other) && rival.state === "applied")
      if (other === key || rival.prof !== "spec" || rival.inst_id !== line.inst_id || isLater) continue
      Object.assign(rival, { state: "killed", kill_mode: "none", kill_wait: 0 })
      this.completed.add(other)
    }
  }
}
