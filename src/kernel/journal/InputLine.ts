/**
 * Journal lines of captured signals.
 *
 * @module
 */
import type { CapturedSignal } from "../model/InFlight.ts"
import { type Path, type Paths, pathOf, pathsOf } from "./PathItem.ts"
import type { Again } from "../model/Signal.ts"

/** One captured signal. An earlier entry has the rest of one that is its id alone. */
export type InputLine =
  | string
  | readonly [id: string, signal: Path, target: Path, payload?: unknown]
  | {
    readonly id: string
    readonly signal: Path
    readonly target: Path
    readonly enzyme: string
    readonly attempt: number
    readonly why: Again["why"]
    readonly losses: number
    readonly timeouts?: number
    readonly segment?: number
    readonly captured: number
    readonly payload?: readonly [unknown?]
    readonly awaits?: string
  }

/** A captured signal. */
export interface InputRecord extends Paths {
  readonly id: string
  /** Whether this entry has the payload. Otherwise the sending or an earlier capturing entry has it. */
  readonly isWhole: boolean
  /** The payload as JSON; `undefined` if there is none. */
  readonly payload: unknown
  readonly awaits: string | undefined
  /** The repeated handling; `undefined` for a signal captured for the first time. */
  readonly again: AgainRecord | undefined
}

/** A repeated handling of a signal. */
export type AgainRecord = Pick<Again, "attempt" | "captured" | "enzyme" | "losses" | "segment" | "timeouts" | "why">

/** The line of a captured signal, as JSON text. */
export const write = ({ handlings, pending, flight: { signal } }: CapturedSignal): string => {
  const { again } = pending
  const target = pathOf(signal.target)
  const path = pathOf(signal.signal)
  if (again !== undefined) {
    const timeouts = again.timeouts === undefined ? "" : `"timeouts":${again.timeouts},`
    // A rollback may have taken the run back to an earlier segment.
    const segment = again.segment === undefined ? "" : `"segment":${handlings[0]?.segment ?? again.segment},`
    const awaits = signal.awaits === undefined ? "" : `,"awaits":"${signal.awaits}"`
    const payload = again.why === "redelivery" ? `,"payload":[${signal.payload?.text ?? ""}]${awaits}` : ""
    return `{"id":"${signal.id}","signal":${path},"target":${target},"enzyme":"${again.enzyme}","attempt":${again.attempt},` +
      `"why":"${again.why}","losses":${again.losses},${timeouts}${segment}"captured":${again.captured}${payload}}`
  }
  if (signal.origin === "run" && !pending.anew) return `"${signal.id}"`
  return signal.payload === undefined ? `["${signal.id}",${path},${target}]` : `["${signal.id}",${path},${target},${signal.payload.text}]`
}

/** The captured signal of a line. */
export const read = (line: InputLine): InputRecord => {
  const none = { signal: undefined, target: undefined, payload: undefined, awaits: undefined, again: undefined }
  if (typeof line === "string") return { ...none, id: line, isWhole: false }
  if (!("id" in line)) {
    const [id, signal, target, payload] = line
    return { ...none, id, ...pathsOf(signal, target), isWhole: true, payload }
  }
  const { attempt, awaits, captured, enzyme, id, losses, payload, segment, signal, target, timeouts, why } = line
  const again = { attempt, captured, enzyme, losses, segment, timeouts, why }
  return { id, ...pathsOf(signal, target), isWhole: payload !== undefined, payload: payload?.[0], awaits, again }
}
