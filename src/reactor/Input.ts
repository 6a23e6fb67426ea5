/**
 * The captured input of requests: completions, changed channels, channels with room, the limit on open requests, and the
 * lengths of signal chains.
 *
 * The journal keeps the completions, and of the other parts those that a run read.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { InputRule } from "../ledger/Ledger.ts"
import type { IoKinds } from "./Kinds.ts"
import type { UsedInput, Completion, OpenRequests } from "./OpenRequests.ts"
import type { DeclaredChannel } from "./Request.ts"

/** The most completions of one beat, and the most characters of their values; one is always taken. */
export const MAX_COMPLETIONS = 1024
export const MAX_SIZE = 1_048_576

/** A completion in the journal. */
type Line = readonly [rid: string, attempt: number, bytes: number, shim: 0 | 1, failure: Failed | 0, value: readonly [unknown?]]

/** A failure in the journal. */
type Failed = readonly [errno: number, code: string, retryable: 0 | 1, note?: string | null, retryAfterMs?: number]

/** The input in the journal. */
interface Recorded {
  readonly done?: ReadonlyArray<Line>
  readonly chan?: { readonly [id: string]: DeclaredChannel | null }
  readonly full?: number
  readonly room?: ReadonlyArray<string>
  readonly depths?: ReadonlyArray<readonly [event: string, depth: number]>
}

const none: ReadonlyArray<Completion> = []

const nothingAsked = (): UsedInput => ({ limit: false, channels: new Set(), rooms: new Set(), depths: new Map() })

const isAsked = (asked: UsedInput | undefined): boolean =>
  asked === undefined || asked.limit || asked.channels.size > 0 || asked.depths.size > 0

/** The completions that one beat takes: the earliest arrived, in the order of their submission. */
const taken = (state: Pick<OpenRequests, "completions" | "get">): ReadonlyArray<Completion> => {
  const { completions } = state
  if (completions.length === 0) return none
  const orderOf = ({ rid }: Completion): number => state.get(rid)?.order ?? -1
  const found: Array<Completion> = []
  let size = 0
  for (const completion of completions) {
    size += completion.value?.text.length ?? 0
    if (found.length > 0 && (found.length >= MAX_COMPLETIONS || size > MAX_SIZE)) break
    found.push(completion)
  }
  return found.sort((a, b) => orderOf(a) - orderOf(b))
}

const failedLine = ({ code, errno, note, retryAfterMs, retryable }: NonNullable<Completion["failure"]>): Failed => {
  const head = [errno, code, retryable ? 1 : 0] as const
  if (retryAfterMs !== undefined) return [...head, note ?? null, retryAfterMs]
  return note === undefined ? head : [...head, note]
}

const failureOf = ([errno, code, retryable, note, retryAfterMs]: Failed): NonNullable<Completion["failure"]> => ({
  errno, code, retryable: retryable === 1,
  ...(typeof note === "string" ? { note } : {}),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs })
})

const lineOf = ({ attempt, bytes, failure, rid, shim, value }: Completion): string => {
  const failed = failure === undefined ? 0 : failedLine(failure)
  const head: ReadonlyArray<unknown> = [rid, attempt, bytes ?? -1, shim ? 1 : 0, failed]
  return `${JSON.stringify(head).slice(0, -1)},[${value?.text ?? ""}]]`
}

const completionOf = ([rid, attempt, bytes, shim, failed, [value]]: Line): Completion => ({
  rid,
  attempt,
  bytes: bytes < 0 ? undefined : bytes,
  shim: shim === 1,
  failure: failed === 0 ? undefined : failureOf(failed),
  value: value === undefined ? undefined : Document.decode(JSON.stringify(value))
})

/**
 * The rule of this input.
 */
export const input: InputRule<IoKinds> = {
  field: "io",
  isWaiting: ({ completions, rooms }) => completions.length > 0 || rooms.size > 0,
  isAwaited: (state) => state.isAwaited,
  // A start repeats the jobs that were in progress.
  isExpected: ({ hasJobs, watched }) => hasJobs || watched.size > 0,
  nextDue: ({ delayed }) => delayed.nextDue,
  isTaken: ({ completions, rooms }) => completions.length > 0 || rooms.length > 0,
  peek: (state, { gated, limits }) => {
    if (gated) state.holdBack?.()
    if (state.idle !== undefined && state.completions.length === 0) return state.idle
    return state.idle = {
      completions: taken(state),
      channels: state.channels,
      limit: limits.ioRequests,
      rooms: [...state.rooms],
      depths: undefined,
      asked: nothingAsked()
    }
  },
  drop: (state, { completions, rooms }) => {
    for (const channel of rooms) state.rooms.delete(channel)
    if (rooms.length > 0 || completions.length > 0 || isAsked(state.idle?.asked)) state.idle = undefined
    if (completions.length === 0) return
    const gone = new Set(completions)
    state.completions = state.completions.filter((completion) => !gone.has(completion))
  },
  encode: ({ asked, channels, completions, limit }) => {
    const parts: Array<string> = []
    if (completions.length > 0) parts.push(`"done":[${completions.map(lineOf).join()}]`)
    if (asked.channels.size > 0) {
      parts.push(`"chan":${JSON.stringify(Object.fromEntries([...asked.channels].map((id) => [id, channels.get(id) ?? null])))}`)
    }
    if (asked.limit) parts.push(`"full":${limit}`)
    if (asked.rooms.size > 0) parts.push(`"room":${JSON.stringify([...asked.rooms])}`)
    if (asked.depths.size > 0) parts.push(`"depths":${JSON.stringify([...asked.depths])}`)
    return `{${parts.join()}}`
  },
  decode: (value) => {
    const { chan = {}, depths = [], done = [], full, room = [] } = value as Recorded
    return {
      completions: done.map(completionOf),
      channels: new Map(Object.entries(chan).map(([id, declared]) => [id, declared ?? undefined])),
      limit: full,
      rooms: room,
      depths: new Map(depths),
      asked: { limit: full !== undefined, channels: new Set(Object.keys(chan)), rooms: new Set(room), depths: new Map(depths) }
    }
  }
}
