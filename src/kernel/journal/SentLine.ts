/**
 * Journal lines of sent signals: those of runs, and those of the beat itself.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import type { DueAt, OutgoingSignal } from "../../stage/Launch.ts"
import { type Path, type Paths, pathOf, pathsOf, presentOf } from "./PathItem.ts"

/** A signal sent by the beat itself: to an enzyme that awaits an operation, or to all takers. */
export interface BeatSignal {
  readonly id: string
  readonly signal: string
  readonly target: string | undefined
  /** The awaiting enzyme, if there is one. */
  readonly enzyme: string | undefined
  readonly payload: Document | undefined
}

/** One signal that a run sent. With a fifth item, the payload is in a list of its own. */
export type EmittedLine =
  readonly [id: string, signal: Path, target: Path, payload?: unknown, at?: DueAt | 0, space?: string | 0, tells?: string]

/** One signal that the beat itself sent; the enzyme is the awaiting one. */
export type SentLine = readonly [id: string, signal: string, target: Path, enzyme: Path, payload: readonly [unknown?]]

/** A signal sent by a run or by the beat itself. */
export interface SentRecord extends Paths {
  readonly id: string
  readonly payload: unknown
  readonly at: DueAt | undefined
  readonly space: string | undefined
  /** The enzyme that awaits it. */
  readonly awaits: string | undefined
  /** The operation of the durable run that waits for its end. */
  readonly tells?: string | undefined
}

/** The line of a signal of a run, as JSON text. */
export const writeEmitted = ({ at, id, payload, signal, space, target, tells }: OutgoingSignal): string => {
  const head = `["${id}",${pathOf(signal)},${pathOf(target)}`
  if (tells !== undefined) return `${head},[${payload?.text ?? ""}],${at === undefined ? 0 : JSON.stringify(at)},0,"${tells}"]`
  if (space !== undefined) return `${head},[${payload?.text ?? ""}],${at === undefined ? 0 : JSON.stringify(at)},"${space}"]`
  if (at !== undefined) return `${head},[${payload?.text ?? ""}],${JSON.stringify(at)}]`
  return payload === undefined ? `${head}]` : `${head},${payload.text}]`
}

/** The signal of a run, of its line. */
export const readEmitted = (line: EmittedLine): SentRecord => {
  const [id, signal, target, value, at = 0, space = 0, tells] = line
  const [payload] = line.length > 4 ? value as readonly [unknown?] : [value]
  const paths = pathsOf(signal, target)
  return { id, ...paths, payload, at: at === 0 ? undefined : at, space: presentOf(space), awaits: undefined, tells }
}

/** The line of a signal of the beat itself, as JSON text. */
export const write = ({ enzyme, id, payload, signal, target }: BeatSignal): string =>
  `["${id}","${signal}",${pathOf(target)},${pathOf(enzyme)},[${payload?.text ?? ""}]]`

/** The signal of the beat itself, of its line. */
export const read = ([id, signal, target, awaits, [payload]]: SentLine): SentRecord =>
  ({ id, ...pathsOf(signal, target), payload, at: undefined, space: undefined, awaits: presentOf(awaits) })
