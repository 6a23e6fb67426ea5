/**
 * Records of asynchronous work in any dossier, made by the enzymes that do the work.
 *
 * Only the given fields are written; a later record changes its fields and keeps the others.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Link from "../cell/Link.ts"
import type { Value } from "../cell/Value.ts"
import type { Draft } from "../stage/Draft.ts"
import type { ChannelRecord, ReactorRecord, RequestRecord } from "../stage/Io.ts"
import * as Write from "../stage/write/Write.ts"
import * as Requests from "./Request.ts"

/** A test of one field. */
type Test = (value: unknown) => boolean

const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isText: Test = (value) => typeof value === "string" && value.length <= Address.MAX_TEXT && value.isWellFormed()
const isFlag: Test = (value) => typeof value === "boolean"
const states: ReadonlySet<unknown> = new Set<Requests.State>(["pending", "pending_retry", "complete", "cnl", "fail"])

const requestFields: Readonly<Record<keyof RequestRecord, Test>> = {
  state: (value) => states.has(value),
  channel: isText,
  opcode: isText,
  beats_budget: isCount,
  deadline_beat: isCount,
  deadline_unix_ns: (value) => isCount(value) || (typeof value === "bigint" && value >= 0n && value < 1n << 64n),
  bytes_expected: isCount,
  bytes_done: isCount,
  errno: Number.isSafeInteger,
  telemetry_id: (value) => isText(value) || Link.is(value)
}

const channelFields: Readonly<Record<keyof ChannelRecord, Test>> = {
  target_path: isText,
  provider_id: isText,
  reactor_id: isText,
  caps: (value) => Array.isArray(value) && value.length <= 64 && value.every(isText),
  shim: isFlag
}

const reactorFields: Readonly<Record<keyof ReactorRecord, Test>> = {
  draining: isFlag,
  paused: isFlag,
  shutting_down: isFlag,
  deadline_beats: isCount
}

/** A record by its name in the dossier. */
export interface NamedRecord<Fields> {
  readonly oid: string
  readonly name: string
  readonly fields: Fields
}

/** Records a request. Returns false, without a change, for an unknown operation or an invalid name or field. */
export const request = (draft: Draft, { fields, name, oid }: NamedRecord<RequestRecord>): boolean =>
  Requests.isName(name) && record(draft, { oid, place: () => Requests.address(oid, name), fields, tests: requestFields })

/** Records a channel, with an empty list of watchers. Returns false in the same cases. */
export const channel = (draft: Draft, { fields, name, oid }: NamedRecord<ChannelRecord>): boolean => {
  if (!Requests.isName(name)) return false
  if (!record(draft, { oid, place: () => Requests.channelAddress(oid, name), fields, tests: channelFields })) return false
  const watchers = Requests.channelAddress(oid, name, "watchers")
  if (draft.visible(watchers.key) === undefined) draft.operate([Write.set(watchers, {})])
  return true
}

/** Records the state of the reactor. Returns false in the same cases. */
export const reactor = (draft: Draft, oid: string, fields: ReactorRecord): boolean =>
  record(draft, { oid, place: () => Requests.reactorAddress(oid), fields, tests: reactorFields })

/** The fields to record, their tests, and the cell. */
interface Recording {
  readonly oid: string
  readonly place: () => Address.Address
  readonly fields: object
  readonly tests: Readonly<Record<string, Test>>
}

const record = (draft: Draft, { fields, oid, place, tests }: Recording): boolean => {
  // The shared dossier has the requests of the runtime, whose states only their results change.
  if (!Requests.isName(oid) || oid === Requests.SHARED || typeof fields !== "object" || fields === null) return false
  if (draft.get(Requests.dossierAddress(oid).text) === undefined) return false
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  if (given.length === 0 || given.some(([name, value]) => !Object.hasOwn(tests, name) || tests[name]?.(value) !== true)) return false
  const address = place()
  const isNew = draft.visible(address.key) === undefined
  draft.operate(isNew
    ? [Write.set(address, Object.fromEntries(given))]
    : given.map(([name, value]) => Write.set(Address.into(address, [name]), value as Value)))
  return true
}
