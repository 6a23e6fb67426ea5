/**
 * Random histories of operations: starts, states, closes and awaits from runs that
 * share a beat, time-outs, power cuts and disk faults, checked against a reference
 * model of the watchers.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaults, type Event, replay, type Settings, type Space, type Transaction } from "systole"
import * as Random from "../support/Random.ts"
import { enzyme, turns } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"

/** A command of a run to an operation. */
type Deed =
  | { readonly kind: "start" }
  | { readonly kind: "state"; readonly op: number; readonly state: string }
  | { readonly kind: "close"; readonly op: number; readonly status: "sts:ok" | "sts:fail" | "sts:cnl" }
  | { readonly kind: "await"; readonly op: number; readonly want: string; readonly ttl: number }

/** The commands of a run, and whether it fails at its end. */
interface Work {
  readonly n: number
  readonly deeds: ReadonlyArray<Deed>
  readonly fails: boolean
}

const STATES = ["ist:a", "ist:b", "ist:ok"]
const STATUSES = ["sts:ok", "sts:fail", "sts:cnl"] as const
const OPERATIONS = 4

/** The executed commands of a run. The run writes them itself, so that they are absent if it aborts. */
interface Done {
  readonly n: number
  readonly beat: number
  readonly deeds: ReadonlyArray<Deed & { readonly oid: string; readonly well: boolean; readonly watch?: string }>
}

const oidOf = (tx: Transaction, op: number): string | undefined => tx.get(`/data/oids/${op}`) as string | undefined

const perform = (tx: Transaction, { deeds, fails, n }: Work): void => {
  const done: Array<Done["deeds"][number]> = []
  for (const [i, deed] of deeds.entries()) {
    if (deed.kind === "start") {
      const slot = n % OPERATIONS
      if (oidOf(tx, slot) !== undefined) continue
      const oid = tx.op.start({ verb: "op/live", target: "/data/x", mode: "opm:states" })
      tx.set(`/data/oids/${slot}`, oid)
      done.push({ ...deed, oid, well: true })
      continue
    }
    const oid = oidOf(tx, deed.op)
    if (oid === undefined) continue
    if (deed.kind === "state") done.push({ ...deed, oid, well: tx.op.setState(oid, deed.state) })
    else if (deed.kind === "close") done.push({ ...deed, oid, well: tx.op.close(oid, deed.status) })
    else {
      const watch = `${n}.${i}`
      tx.op.await(oid, deed.want, { signal: "/op/cont", ttl: deed.ttl, payload: watch })
      done.push({ ...deed, oid, well: true, watch })
    }
  }
  tx.append("/data/done", { n, beat: tx.beat, deeds: done })
  if (fails) throw new Error("as asked")
}

const enzymes = [
  enzyme("work", (tx, event: Event) => perform(tx, event.payload as Work), { query: "/signals/work/*" }),
  enzyme("heard", (tx, { payload, signal }) => tx.append(`/data/heard/${String(payload)}`, { signal, beat: tx.beat }), {
    query: "/op/*",
    bind: ["/rt/ops"]
  })
]

/** The expected state of a watcher. */
interface Fate {
  readonly opened: number
  readonly ttl: number
  readonly want: string
  readonly oid: string
  signal: string | undefined
  /** The beat that sent the signal. */
  over: number | undefined
}

/** The reference model: applies the commands beat by beat to one list of watchers. `beats` has each beat with its clock. */
const expectedFates = (
  dones: ReadonlyArray<Done>,
  beats: ReadonlyArray<{ readonly beat: number; readonly clock: number }>,
  tempo: number
): ReadonlyMap<string, Fate> => {
  const fates = new Map<string, Fate>()
  const standing = new Map<string, { state: string; status: string | undefined }>()
  const clocks = new Map(beats.map(({ beat, clock }) => [beat, clock]))
  const isOpen = (fate: Fate): boolean => fate.signal === undefined
  const end = (fate: Fate, signal: string, beat: number): void => {
    fate.signal = signal
    fate.over = beat
  }
  for (const { beat, clock } of beats) {
    const arm = (oid: string, word: string): void => {
      for (const fate of fates.values()) if (fate.oid === oid && fate.want === word && isOpen(fate)) end(fate, "/op/cont", beat)
    }
    for (const done of dones.filter((done) => done.beat === beat)) {
      for (const deed of done.deeds) {
        if (!deed.well) continue
        if (deed.kind === "start") standing.set(deed.oid, { state: "ist:run", status: undefined })
        const now = standing.get(deed.oid)!
        if (deed.kind === "await") {
          const fate: Fate = { opened: beat, ttl: deed.ttl, want: deed.want, oid: deed.oid, signal: undefined, over: undefined }
          fates.set(deed.watch!, fate)
          if (deed.want === now.state || deed.want === now.status) end(fate, "/op/cont", beat)
        } else if (deed.kind !== "start") {
          now.state = deed.kind === "state" ? deed.state : `ist:${deed.status.slice(4)}`
          arm(deed.oid, now.state)
          if (deed.kind === "close") {
            now.status = deed.status
            arm(deed.oid, deed.status)
          }
        }
      }
    }
    for (const fate of fates.values()) {
      if (!isOpen(fate)) continue
      const isOver = fate.ttl > 0 && beat >= fate.opened + fate.ttl && clock >= clocks.get(fate.opened)! + fate.ttl * tempo
      if (isOver || standing.get(fate.oid)!.status !== undefined) end(fate, "/op/tmo", beat)
    }
  }
  return fates
}

class RandomHistory {
  private readonly machine: TestMachine.TestMachine
  private readonly draw: Random.Random
  private readonly settings: Partial<Settings>
  private space: Space
  private posted = 0

  constructor(machine: TestMachine.TestMachine, space: Space, origin: { readonly seed: number; readonly settings: Partial<Settings> }) {
    this.machine = machine
    this.space = space
    this.draw = Random.make(origin.seed)
    this.settings = origin.settings
  }

  private deed(): Deed {
    const { draw } = this
    const op = draw(OPERATIONS)
    const kind = draw(10)
    if (kind < 2) return { kind: "start" }
    if (kind < 5) return { kind: "state", op, state: Random.pick(draw, STATES) }
    if (kind === 5 && draw(3) === 0) return { kind: "close", op, status: Random.pick(draw, STATUSES) }
    return { kind: "await", op, want: Random.pick(draw, [...STATES, ...STATUSES, "ist:fail"]), ttl: draw(2) === 0 ? 0 : 1 + draw(6) }
  }

  private readonly post = Effect.fnUntraced(function*(this: RandomHistory) {
    const n = this.posted++
    const work: Work = { n, deeds: Array.from({ length: 1 + this.draw(4) }, () => this.deed()), fails: this.draw(8) === 0 }
    return yield* this.space.signal({ signal: `/signals/work/${n % 5}`, payload: work as never, id: `work-${n}` })
  })

  private readonly beat = Effect.suspend(() => this.settings.pace === "demand" ? turns(2) : Effect.ignore(this.space.step))

  private readonly cut = Effect.fnUntraced(function*(this: RandomHistory) {
    yield* Effect.forkChild(Effect.result(this.post()), { startImmediately: true })
    if (this.draw(2) === 0) yield* Effect.forkChild(this.beat, { startImmediately: true })
    yield* turns(this.draw(5))
    this.space = yield* this.machine.boot(enzymes, this.settings)
    yield* turns()
  })

  private readonly fault = Effect.fnUntraced(function*(this: RandomHistory) {
    this.machine.breakDisk(true)
    yield* Effect.flip(this.post())
    this.machine.breakDisk(false)
    this.space = yield* this.machine.open
  })

  readonly run = Effect.fnUntraced(function*(this: RandomHistory, length: number) {
    for (let i = 0; i < length; i++) {
      const kind = this.draw(12)
      if (kind < 6) yield* this.post()
      else if (kind < 10) yield* this.beat
      else if (kind === 10) yield* this.cut()
      else yield* this.fault()
      if (this.draw(3) === 0) yield* TestClock.adjust(this.draw(30))
    }
    for (let i = 0; i < 80 + 6 * this.posted; i++) {
      yield* TestClock.adjust(10)
      yield* this.beat
    }
    yield* this.space.idle
  })

  /** Asserts that each watcher received its signal once after the expected beat, and that the open watchers match the model. */
  readonly check = Effect.fnUntraced(function*(this: RandomHistory) {
    const { space } = this
    const head = yield* space.head
    const beats = yield* space.examine(({ store }) => [...store.scanJournal(0, head)].map(({ beat, clock }) => ({ beat, clock })))
    const dones = ((yield* space.get("/data/done")) ?? []) as unknown as ReadonlyArray<Done>
    const fates = expectedFates(dones, beats, this.settings.tempo ?? 0)
    const open = new Map<string, number>()
    for (const [watch, fate] of fates) {
      const heard =
        ((yield* space.get(`/data/heard/${watch}`)) ?? []) as unknown as ReadonlyArray<{ readonly signal: string; readonly beat: number }>
      assert.deepStrictEqual(
        heard.map(({ signal }) => signal),
        fate.signal === undefined ? [] : [fate.signal],
        `${watch} ${JSON.stringify(fate)}`
      )
      if (fate.signal === undefined) open.set(fate.oid, (open.get(fate.oid) ?? 0) + 1)
      else assert.isAbove(heard[0]!.beat, fate.over!, watch)
    }
    const { operations } = yield* space.ops.list({ limit: 100 })
    for (const { oid, watchers } of operations) {
      assert.strictEqual(watchers, open.get(oid) ?? 0, oid)
      assert.lengthOf(yield* space.list(`/rt/ops/${oid}/watchers`), watchers, oid)
      assert.strictEqual((yield* space.get(`/sys/bind/rt/ops/${oid}`)) === undefined, watchers === 0, oid)
      const names = (yield* space.list(`/rt/ops/${oid}/history`)).map((name) => Number(name.slice(4))).toSorted((a, b) => a - b)
      assert.deepStrictEqual(names, names.map((_, i) => i + 1), oid)
    }
    const replayed = yield* space.examine((archive) => replay(archive, 0, head))
    assert.isUndefined(replayed.difference, JSON.stringify(replayed.difference))
    return fates.size
  })
}

/** Runs one history of `length` steps and checks it. Returns the number of watchers. */
export const check = (seed: number, length: number, pace: Settings["pace"]) =>
  Effect.scoped(Effect.gen(function*() {
    const machine = yield* TestMachine.make
    const limits =
      seed % 2 === 0 ? defaults : { ...defaults, captureSignals: 3, captureBytes: 400, groupBeats: 2, residentBytes: 2000, backoffBeats: 3 }
    const settings = { tempo: seed % 3 === 0 ? 0 : 10, pace, limits }
    const history = new RandomHistory(machine, yield* machine.boot(enzymes, settings), { seed, settings })
    yield* history.run(length)
    return yield* history.check()
  }))
