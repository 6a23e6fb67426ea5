/**
 * The cells of durable runs: the dossier of the operation, and the step log.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import { DEAD } from "../ledger/RunState.ts"
import type { Stage } from "../stage/Stage.ts"
import * as Step from "./Step.ts"

/** The folder of the operations. */
export const FOLDER = "/rt/ops"

/** The verb of the operation of a durable run. */
export const VERB = "op/run"

/** The operation of a run. */
export interface Run {
  readonly oid: string
  /** The id of its event, and the key of its enzyme. */
  readonly event: string
  readonly enzyme: string
  /** The beat of its first step. */
  readonly begun: number
  readonly state: string
  readonly note: string | undefined
  /** The closing status; `undefined` while it is open. */
  readonly status: string | undefined
  readonly isDead: boolean
}

/** Reads a document by the key of its cell. */
export type Read = (key: string) => Document.Document | undefined

/** The address of the operation of a run, or of a cell below it. */
export const address = (oid: string, ...below: ReadonlyArray<string>): Address.Address => Address.make([FOLDER, oid, ...below].join("/"))

/** The mutable fields and the envelope of an operation. */
interface Live {
  readonly state: string
  readonly note?: string
  readonly status?: string
}

interface Envelope {
  readonly verb: string
  readonly target: string
  readonly issued_beat: number
}

/** The id of the operation of the durable run of an event and an enzyme. */
export const oidOf = (event: string, key: string, hash: (text: string) => string): string =>
  `OPS:${hash(`${event} ${key}`).slice(0, 32)}`

/** The operations of runs are named by digests. */
const named = /^OPS:[0-9a-f]{32}$/

/** Whether a name may be that of the operation of a run. No enzyme has such a name. */
export const isName = (name: unknown): boolean => typeof name === "string" && named.test(name)

/**
 * The operation of a run; `undefined` for any other operation.
 */
export const find = (oid: string, read: Read): Run | undefined => {
  if (!isName(oid)) return undefined
  const live = Document.read(read(address(oid).key), []) as unknown as Live | undefined
  const envelope = Document.read(read(address(oid, "envelope").key), []) as unknown as Envelope | undefined
  if (live === undefined || envelope?.verb !== VERB) return undefined
  const [event = "", enzyme = ""] = envelope.target.split(" ")
  const { note, state, status } = live
  return { oid, event, enzyme, begun: envelope.issued_beat, state, note, status, isDead: status === undefined && state === DEAD }
}

/** Whether an operation is open, and not given up. */
export const isOpen = (oid: string, read: Read): boolean => {
  const live = Document.read(read(address(oid).key), []) as unknown as Live | undefined
  return live !== undefined && live.status === undefined && live.state !== DEAD
}

/** The steps of a run in order, from one of them on. */
export function* stepsOf(oid: string, read: Read, from = 0): Iterable<Step.Step> {
  for (let k = from; ; k++) {
    const logged = Step.read((part) => read(address(oid, "step", String(k), ...part === undefined ? [] : [String(part)]).key))
    if (logged === undefined) return
    yield logged.step
  }
}

/** Deletes a cell and all cells below it. */
export const erase = (stage: Stage, place: Address.Address, writer: number): void => {
  for (const name of stage.merged("space", place.id)) erase(stage, Address.make(`${place.id}/${name}`), writer)
  if (stage.newest(place.key) !== undefined) stage.put(place, undefined, writer)
}
