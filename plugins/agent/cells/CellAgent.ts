/**
 * The agent of a control file in a cell: enzymes that save the file and wake for it, on each host.
 *
 * A wake is a durable run of the same code as over a file. Its clock is that of the beats, and its waits are those of the run,
 * so nothing stays in memory meanwhile. At its end it sends the signal of the next wake, for the time of the earliest action.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type At, Enzyme, MAX_WAIT, type Transaction } from "systole"
import type { Action } from "../document/Action.ts"
import * as CellFile from "./CellFile.ts"
import * as RunSpaceClient from "./RunSpaceClient.ts"
import * as CellStore from "./CellStore.ts"
import * as Conditions from "../schedule/Condition.ts"
import * as ControlFiles from "../document/ControlFile.ts"
import type { ControlFile } from "../document/ControlFile.ts"
import * as Damages from "../document/Damage.ts"
import { ControlStore } from "../store/ControlStore.ts"
import * as Issues from "../text/Issue.ts"
import { SpaceClient, types as typesOf } from "../order/SpaceClient.ts"
import * as Merge from "../document/Merge.ts"
import * as Projection from "../wake/Projection.ts"
import * as Record from "../order/Record.ts"
import { Versions } from "../store/Versions.ts"
import * as Wake from "../wake/Wake.ts"

/** The signals to a control file: a wake, and the approval of a program; and a save of a person. */
export const WAKE = "/signals/heartbeat/wake"
export { SAVE } from "./CellStore.ts"
export const APPROVE = "/signals/heartbeat/approve"

/** The signal of a wake that died, to its control file. */
const DIED = "/signals/heartbeat/died"

/** The wait while an action waits for a time of day, or for time in a wake, in milliseconds. */
const RECHECK_MILLIS = 60_000

/** A save: the text of the file, and the address of the version that the person read. */
const Save = Schema.Struct({ text: Schema.String, from: Schema.optionalKey(Schema.String) })

/** An approval: the hash of the block of an action. */
const Approval = Schema.Struct({ hash: Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-f]{32}$/))) })

const settingsIn = (tx: Transaction): CellFile.CellSettings => CellFile.settingsOf(tx.get(CellFile.SETTINGS))

const timesIn = (value: unknown): ReadonlyArray<number> => Array.isArray(value) ? value.filter((time) => typeof time === "number") : []

/**
 * Whether an action waits for a time of day, or in a wake that is late for time in the next one. Any other action without a
 * known time waits for a save: one with a schedule is due by its time or never.
 */
const isRechecked = ({ plan }: Wake.Report, isLate: boolean): boolean =>
  plan.some((decision) => decision.kind === "wait" && decision.at === undefined && isOpenAt(decision.action, isLate))

const isOpenAt = ({ condition, priority, schedule: { kind } }: Action, isLate: boolean): boolean =>
  (isLate && priority === "LOW") || (kind === "always" && condition !== undefined && Conditions.isTimed(condition))

/** Sends the signal of a wake. It has a payload, because only events keep to their lane, one wake after another. */
const wakeUp = (tx: Transaction, target: string, at?: At): void =>
  void tx.signal({ signal: WAKE, target, payload: {}, ...at === undefined ? {} : { at } })

/**
 * Sends the signal of the next wake, unless one that is sent already comes before it. A wake that is further away than a signal
 * can wait has one on the way that finds nothing due.
 */
const arm = (tx: Transaction, { cell, key }: CellStore.CellPlace, next: number | undefined): void => {
  const armed = `/data/agent/${key}/armed`
  const before = timesIn(tx.get(armed))
  const times = before.filter((time) => time > tx.now)
  const at = next === undefined ? undefined : Math.min(Math.max(next, tx.now + 1), tx.now + MAX_WAIT)
  if (at !== undefined && !times.some((time) => time <= at)) {
    wakeUp(tx, cell, { ms: at - tx.now })
    times.push(at)
  }
  if (times.length !== before.length || times.some((time, i) => time !== before[i])) tx.set(armed, times)
}

/** The types of actions of the plugin, and the versions of files that its runs parsed. A parse is pure, so a replay may have one. */
interface Known {
  readonly types: ReadonlyArray<string>
  readonly versions: Versions
}

/** The wait after the first of some wakes in a row that died, in milliseconds. Each further one doubles it, up to the longest. */
const AGAIN_MILLIS = 60_000
const LONGEST_MILLIS = 3_600_000

/** The cell of the number of wakes in a row that died. */
const diedOf = ({ key }: CellStore.CellPlace): string => `/data/agent/${key}/died`

const numberIn = (value: unknown): number => typeof value === "number" ? value : 0

/** Sends the signal of a wake after one that died, by any cause, because that one sent none. */
const again = (tx: Transaction, place: CellStore.CellPlace): void => {
  const died = numberIn(tx.get(diedOf(place)))
  tx.set(diedOf(place), died + 1)
  arm(tx, place, tx.now + Math.min(AGAIN_MILLIS * 2 ** Math.min(died, 10), LONGEST_MILLIS))
}

const woken = Effect.fnUntraced(function*(tx: Transaction, place: CellStore.CellPlace, { types, versions }: Known) {
  const { settings } = settingsIn(tx)
  const start = tx.now
  const result = yield* Effect.result(Wake.run({ settings, startup: CellFile.STARTUP, versions }).pipe(
    Effect.provideService(ControlStore, CellStore.make(tx, place)),
    Effect.provideService(SpaceClient, RunSpaceClient.make(tx, types))
  ))
  if (result._tag === "Failure") {
    arm(tx, place, undefined)
    return { code: result.failure.code, message: result.failure.message }
  }
  if (numberIn(tx.get(diedOf(place))) > 0) tx.delete(diedOf(place))
  const { held, nextDue = Number.POSITIVE_INFINITY, older, ran } = result.success
  const isLate = tx.now - start >= settings.budget / 2
  const recheck = isRechecked(result.success, isLate) ? tx.now + RECHECK_MILLIS : Number.POSITIVE_INFINITY
  const next = Math.min(nextDue, recheck)
  arm(tx, place, Number.isFinite(next) ? next : undefined)
  return {
    ran: ran.map(({ action, record }) => `${action.id}: ${record.status}`),
    held: held.map(({ action, hash }) => `${action.id}: ${hash}`),
    ...older.length === 0 ? {} : { older },
    next: Number.isFinite(next) ? Projection.moment(next) : null
  }
})

const absent = (target: string | undefined) => ({
  saved: false,
  reason: `${target ?? "A signal without a target"} is no control file. Name a cell such as ${CellStore.FOLDER}/heartbeat.md`
})

/** The address of the version that a person read, and of the present one. */
interface Versioned {
  readonly place: CellStore.CellPlace
  readonly from: string
  readonly current: string
}

/**
 * The text of a save after the versions that the agent wrote since the person read the file; `undefined` if another person
 * saved meanwhile.
 */
const merged = (tx: Transaction, { current, from, place }: Versioned, text: string): string | undefined => {
  const fileOf = (content: string): ControlFile | undefined => {
    const bytes = CellStore.bytesAt(tx, place, content)
    const read = bytes === undefined ? undefined : ControlFiles.decode(bytes)
    return typeof read === "string" ? ControlFiles.parse(read) : undefined
  }
  const [base, now] = [fileOf(from), fileOf(current)]
  const changes = base === undefined || now === undefined ? undefined : Merge.changesBetween(base, now)
  return base === undefined || changes === undefined ? undefined : Merge.merge3(base, changes, ControlFiles.parse(text)).text
}

/** A save, and what the plugin knows. */
interface Asked {
  readonly save: typeof Save.Type
  readonly known: Known
}

/** The reason for which a text is no control file; `undefined` for none. */
const refusalOf = (text: string): string | undefined => {
  const bytes = ControlFiles.encode(text)
  const read = ControlFiles.decode(bytes)
  if (typeof read !== "string") return read.message
  if (read !== text) return "it contains a half of a character, a lone surrogate"
  return Damages.of(bytes)?.reason
}

const save = (tx: Transaction, place: CellStore.CellPlace, { known: { types, versions }, save: { from, text } }: Asked) => {
  const current = CellStore.contentOf(tx, place)
  const isBehind = from !== undefined && from !== current
  const whole = !isBehind ? text : current === undefined ? undefined : merged(tx, { from, current, place }, text)
  const refusal = refusalOf(text) ?? (whole === undefined || whole === text ? undefined : refusalOf(whole))
  if (refusal !== undefined) return { saved: false, reason: `The text is refused: ${refusal}` }
  if (whole === undefined) {
    return { saved: false, content: current ?? null, reason: "The file was saved meanwhile. Read it again, and repeat the change there" }
  }
  const bytes = ControlFiles.encode(whole)
  const content = CellStore.put(tx, place, bytes)
  wakeUp(tx, place.cell)
  const { misfit, settings } = settingsIn(tx)
  const found = Effect.runSync(Effect.provideService(typesOf, SpaceClient, RunSpaceClient.make(tx, types)))
  const defaults = { ...settings.defaults, types: found }
  // The wake that follows finds the version parsed.
  const file = versions.of(bytes, defaults)?.file ?? ControlFiles.parse(whole, defaults)
  const issues = [...misfit === undefined ? [] : [misfit], ...file.issues.map(Issues.render), ...CellFile.absentFacts(file)]
  // The space refuses a reply that is too long, and the save with it.
  return { saved: true, content, issues: issues.slice(0, ControlFiles.MAX_ISSUES) }
}

/**
 * The enzymes of the agent of files in cells. `types` are the types of actions of the same plugin.
 *
 * @category constructors
 * @since 0.1.0
 */
export const enzymes = (types: ReadonlyArray<string>): ReadonlyArray<Enzyme.Enzyme> => enzymesOf({ types, versions: new Versions() })

const enzymesOf = (known: Known): ReadonlyArray<Enzyme.Enzyme> => [
  Enzyme.make({
    name: RunSpaceClient.WAKER,
    query: WAKE,
    bind: [CellStore.FOLDER],
    writes: ["/data/agent/**"],
    lane: "target",
    order: "strict",
    durable: true,
    onMissing: "end",
    onDead: DIED,
    run: (tx, { target }) => {
      const place = CellStore.place(target)
      return place === undefined ? absent(target) : woken(tx, place, known)
    }
  }),
  Enzyme.make({
    name: "heartbeat_again",
    query: DIED,
    bind: [CellStore.FOLDER],
    writes: ["/data/agent/**"],
    run: (tx, { target }) => {
      const place = CellStore.place(target)
      if (place !== undefined) again(tx, place)
    }
  }),
  Enzyme.make({
    name: "heartbeat_save",
    query: CellStore.SAVE,
    bind: [CellStore.FOLDER],
    writes: ["/data/agent/**"],
    payload: Save,
    run: (tx, { payload, target }) => {
      const place = CellStore.place(target)
      return place === undefined ? absent(target) : save(tx, place, { save: payload, known })
    }
  }),
  Enzyme.make({
    name: "heartbeat_approve",
    query: APPROVE,
    bind: [CellStore.FOLDER],
    writes: ["/data/agent/**"],
    payload: Approval,
    run: (tx, { payload: { hash: approved }, target }) => {
      const place = CellStore.place(target)
      if (place === undefined) return absent(target)
      tx.set(Record.approval(place.key, approved), {})
      wakeUp(tx, place.cell)
      return { approved }
    }
  })
]
