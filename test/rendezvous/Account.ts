/**
 * The plainest account of rendezvous: what becomes of them beat by beat, with
 * every entry looked at in every beat.
 *
 * @module
 */

/** What is known of one. */
export interface Line {
  prof: string
  state: string
  due: number
  deadline: number
  grace_delta: number
  max_grace: number
  grace_used: number
  on_miss: string
  kill_mode: string
  kill_wait: number
  epoch_k: number
  inst_id: string | undefined
  telemetry: unknown
}

/** What is asked of rendezvous. */
export type Action =
  | { readonly verb: "spawn"; readonly key: string; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly verb: "report"; readonly key: string; readonly n: number }
  | { readonly verb: "kill"; readonly key: string; readonly wait: number }
  | { readonly verb: "resched"; readonly key: string; readonly delta: number }

const over = (line: Line): boolean => ["applied", "timeout", "killed"].includes(line.state)

/** The account of one space. */
export class Account {
  readonly lines = new Map<string, Line>()
  /** Each event: its key, beat and outcome. */
  readonly events: Array<readonly [key: string, beat: number, outcome: string]> = []
  private completed = new Set<string>()

  /** One beat: what is due, then what is asked; answers what each was answered. */
  beat(now: number, actions: ReadonlyArray<Action>): ReadonlyArray<boolean> {
    this.completed = new Set()
    for (const [key, line] of this.lines) this.scan(key, line, now)
    const answers = actions.map((action) => this.act(action, now))
    // In the order in which the entries were last written matters to nobody but to variants of one question.
    for (const key of this.written(actions)) this.choose(key)
    for (const key of this.completed) {
      const line = this.lines.get(key)!
      if (line.prof === "observer") continue
      this.events.push([key, now, line.state])
      if (line.prof === "rv-epoch" && line.state === "applied") Object.assign(line, { state: "pending", due: now + line.epoch_k, grace_used: 0 })
    }
    return answers
  }

  private scan(key: string, line: Line, now: number): void {
    if (over(line)) return
    if (line.kill_mode !== "none") {
      line.kill_wait--
      if (line.kill_wait > 0) return
      Object.assign(line, { kill_mode: "none", kill_wait: 0 })
      return this.end(key, line, "killed")
    }
    if (line.state === "quarantine") return
    const isWatched = line.prof === "observer"
    if (!isWatched && line.deadline !== 0 && now >= line.deadline) return this.end(key, line, line.on_miss === "kill" ? "killed" : "timeout")
    if (line.state === "pending") {
      if (now >= line.due) line.state = "ready"
      return
    }
    if (isWatched || now <= line.due || line.max_grace === 0) return
    if (line.grace_used < line.max_grace) {
      line.grace_used++
      line.due += line.grace_delta
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

  private act(action: Action, now: number): boolean {
    const { key } = action
    if (action.verb === "spawn") {
      if (this.completed.has(key) && this.lines.get(key)!.prof !== "observer") return false
      const due = now + Number(action.spec["due_off"] ?? 0)
      const { deadl_off, ...spec } = action.spec
      delete (spec as { due_off?: unknown }).due_off
      this.lines.set(key, {
        prof: "rv-fixed", state: "pending", deadline: deadl_off === undefined ? 0 : due + Number(deadl_off), grace_delta: 0, max_grace: 0, grace_used: 0, on_miss: "timeout", kill_mode: "none",
        kill_wait: 0, epoch_k: 0, inst_id: undefined, telemetry: {}, ...spec, due
      } as Line)
      return true
    }
    if (action.verb === "resched" && action.delta === 0) return true
    const line = this.lines.get(key)
    if (line === undefined || over(line)) return false
    if (action.verb === "resched") line.due = Math.max(0, line.due + action.delta)
    else if (action.verb === "kill") Object.assign(line, { kill_mode: "kill", kill_wait: action.wait })
    else {
      line.telemetry = { n: action.n }
      if (line.prof !== "observer" && line.state !== "quarantine") this.end(key, line, "applied")
    }
    return true
  }

  private written(actions: ReadonlyArray<Action>): ReadonlyArray<string> {
    return [...new Set(actions.map(({ key }) => key))].filter((key) => this.completed.has(key))
  }

  /** The first of several variants to be applied ends the others. */
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
