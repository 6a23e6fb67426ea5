/**
 * The requests that one beat changes.
 *
 * @module
 */
import type { Document } from "../cell/Document.ts"
import type { Open } from "./OpenRequests.ts"
import type { Request } from "./Request.ts"

/** A request with its result, and the value of the result. */
export interface FinishedRequest {
  readonly open: Pick<Open, "oid" | "rid">
  readonly request: Request
  readonly value: Document | undefined
  /** Whether no enzyme hears of it. */
  readonly isSilent?: boolean
}

/** A watcher whose channel has room. */
export interface FiredWatcher {
  readonly channel: string
  readonly enzyme: string
  readonly signal: string
  readonly depth: number
}

/** The requests that one beat changes. */
export interface Work {
  /** Requests that the beat opened, in order. */
  readonly opened: Array<Pick<Open, "oid" | "rid" | "hasPayload">>
  /** Requests with another attempt to submit. */
  readonly repeated: Set<string>
  readonly finished: Array<FinishedRequest>
  /** Entries without a record, which the beat removed. */
  readonly cleared: Array<string>
  /** Requests with other due times. */
  readonly timed: Set<string>
  /** Channels whose cells the beat wrote. */
  readonly recorded: Set<string>
  /** Requests whose jobs are to be aborted. */
  readonly aborted: Array<string>
  /** Channels with changed watchers. */
  readonly watched: Set<string>
  /** Watchers that were removed because their channel has room. */
  readonly fired: Array<FiredWatcher>
  /** The number of missed deadlines. */
  missed: number
  /** The count of requests by earlier runs of the beat, and the number of those runs. */
  readonly before: { runs: number; requests: number }
}

/** The requests that a beat changes, from the first change on. */
export const workOf = (beat: { work: Work | undefined }): Work =>
  beat.work ??= {
    opened: [], repeated: new Set(), finished: [], cleared: [], timed: new Set(), recorded: new Set(), aborted: [], watched: new Set(),
    fired: [], missed: 0, before: { runs: 0, requests: 0 }
  }
