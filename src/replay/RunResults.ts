/**
 * The results that a durable run took, and its reads, from its step log.
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import type { AwaitedObject, HandleResult } from "../durable/Handle.ts"
import * as Step from "../durable/Step.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import { oidOf, stepAddress } from "../kernel/runs/Segment.ts"
import type { Handling } from "../kernel/model/InFlight.ts"
import * as Requests from "../reactor/Request.ts"
import type { EventEnd } from "../stage/EventEnd.ts"
import type { RequestLink } from "./SignalChain.ts"
import * as SignalChain from "./SignalChain.ts"

/** An address that a run read, and the value there. */
export interface SeenRead {
  readonly address: string
  readonly value: Value
}

/** A result that a durable run took: that of a request, a signal, or the end of an event. */
export type TakenResult =
  | { readonly kind: "request"; readonly segment: number; readonly request: RequestLink }
  | { readonly kind: "signal"; readonly segment: number; readonly id: string; readonly signal: string; readonly target: string }
  | { readonly kind: "event"; readonly segment: number; readonly id: string; readonly status: EventEnd["status"] }

/** The most results and the most reads of earlier segments. */
export const MAX_RESULTS = 100
const MAX_READS = 1000

/** The part of a durable run before a point. */
interface Earlier {
  readonly reads: ReadonlyArray<SeenRead>
  readonly results: ReadonlyArray<TakenResult>
}

const nothing: Earlier = { reads: [], results: [] }

/**
 * Returns the results that a durable run had taken when it made a segment, and its reads before; nothing for another run,
 * or for a beat that cannot be replayed.
 */
export const before = async (history: HistorySource, handling: Handling | undefined): Promise<Earlier> => {
  if (handling === undefined || (handling.segment === 0 && handling.entry?.enzyme.durable !== true)) return nothing
  const oid = oidOf(handling, history.hash)
  const awaited: Array<AwaitedObject> = []
  const reads: Array<SeenRead> = []
  const results: Array<TakenResult> = []
  const take = (settled: ReadonlyArray<HandleResult>, segment: number): void => {
    for (const result of settled) results.push(...takenBy(history, { oid, segment, result, awaited: awaited[result[0]] }))
    results.splice(0, results.length - MAX_RESULTS)
  }
  for (let segment = 0; segment < handling.segment; segment++) {
    const pause = history.rest()
    if (pause !== undefined) await pause
    const logged = Step.read((part) => SignalChain.documentAt(history, stepAddress(oid, segment, part).key))
    if (logged === undefined) return { reads, results }
    const { step } = logged
    take(step.settled, segment)
    for (const call of step.calls) {
      const [name, at, value, reached = at] = call
      if (name === "get" || name === "peek") reads.push({ address: reached, value })
      else if (isAwaited(value)) awaited.push(value)
    }
    reads.splice(0, reads.length - MAX_READS)
  }
  take(handling.settled ?? [], handling.segment)
  return { reads, results }
}

/** A result of a run, with its object. */
interface Result {
  readonly oid: string
  readonly segment: number
  readonly result: HandleResult
  readonly awaited: AwaitedObject | undefined
}

const takenBy = (history: HistorySource, { awaited, oid, result, segment }: Result): ReadonlyArray<TakenResult> => {
  if (awaited?.kind === "request") {
    const request = SignalChain.askedIn(history, Requests.address(oid, awaited.rid).key)
    return request === undefined ? [] : [{ kind: "request", segment, request }]
  }
  if (result[1] !== "ok") return []
  if (awaited?.kind === "event") return [{ kind: "event", segment, id: awaited.id, status: (result[2] as unknown as EventEnd).status }]
  if (awaited?.kind !== "signal") return []
  const { id, signal, target } = result[2] as unknown as Readonly<Record<"id" | "signal" | "target", string>>
  return [{ kind: "signal", segment, id, signal, target }]
}

/** Whether a call returned a handle. */
const isAwaited = (value: unknown): value is AwaitedObject =>
  typeof value === "object" && value !== null && "kind" in value &&
  (value.kind === "sleep" || value.kind === "request" || value.kind === "signal" || value.kind === "event")
