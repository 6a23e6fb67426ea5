/**
 * Chains of frames: a snapshot with the ranges that follow it, and the choice of one among the backups of a space.
 *
 * The headers decide, and the names of files do not: a range follows the frame whose newest beat is its anchor.
 *
 * @module
 */
import * as Data from "effect/Data"
import type * as Header from "../frame/Header.ts"

/** The fields of a header by which frames follow one another. */
type Described = Pick<Header.Header, "anchor" | "clock" | "head" | "kind" | "origin">

/** A frame with its place, and the time at which it was made, in milliseconds since 1970. */
export interface Placed {
  readonly path: string
  readonly header: Described
  /** By default, that of its newest beat. */
  readonly made?: number | undefined
}

/** The end of a chain: the newest frame up to a beat, or up to a time in milliseconds since 1970. */
export type Until = { readonly beat: number } | { readonly time: number }

/**
 * No chain of frames leads to the point.
 */
export class NoChain extends Data.TaggedError("NoChain")<{ readonly code: "backup/absent" | "backup/gap"; readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

const isSame = (one: Header.Point, other: Header.Point): boolean => one.beat === other.beat && one.hash === other.hash

/** Whether a frame is a range without a beat: the signals that came while no beat ran. */
const isEmpty = ({ anchor, head, kind }: Described): boolean => kind === "range" && anchor.beat >= head.beat

/** Whether a frame follows a point. Digests of the journal chain from the first beat on, so they suffice. */
export const follows = ({ anchor, kind }: Pick<Described, "anchor" | "kind">, point: Header.Point): boolean =>
  kind === "range" && isSame(anchor, point)

const madeAt = ({ header, made = header.clock }: Placed): number => made

/** Whether a point is not after an end: its beat, and the time at which it was made. */
export const isUntil = ({ at, beat }: { readonly at: number; readonly beat: number }, until: Until | undefined): boolean =>
  until === undefined || ("beat" in until ? beat <= until.beat : at <= until.time)

/** The point of a frame: its newest beat, and the time at which it was made, in milliseconds since 1970. */
export const pointOf = (frame: Placed): { readonly at: number; readonly beat: number } =>
  ({ at: madeAt(frame), beat: frame.header.head.beat })

/** A point in words, with the flag that chooses it. */
export const told = (frame: Placed): string => {
  const { at, beat } = pointOf(frame)
  return `--at ${new Date(at).toISOString()} chooses beat ${beat} of ${frame.path}`
}

/** The newest first. Of those with one beat and time, the greater path is newer. */
const newestFirst = (one: Placed, other: Placed): number =>
  madeAt(other) - madeAt(one) || other.header.head.beat - one.header.head.beat || (other.path < one.path ? -1 : 1)

/** The frames that may be points up to an end, the newest first. */
const pointsOf = <P extends Placed>(frames: ReadonlyArray<P>, until: Until | undefined): ReadonlyArray<P> =>
  frames.filter((frame) => ["snapshot", "range"].includes(frame.header.kind) && isUntil(pointOf(frame), until)).sort(newestFirst)

/** The frames up to one, from their snapshot on, and the first of them if it is a range whose predecessor is absent. */
const upTo = <P extends Placed>(last: P, frames: ReadonlyArray<P>): { readonly chain: ReadonlyArray<P>; readonly gap: P | undefined } => {
  const chain = [last]
  for (let first = last; first.header.kind !== "snapshot";) {
    const { header } = first
    const previous = frames.filter((frame) => !isEmpty(frame.header) && follows(header, frame.header.head))
    const found = previous.find(({ header: { kind } }) => kind === "snapshot") ?? previous[0]
    if (found === undefined) return { chain, gap: first }
    chain.unshift(found)
    first = found
  }
  return { chain, gap: undefined }
}

/** The newest point up to an end to which all frames lead; `undefined` if there is none. */
export const reachable = <P extends Placed>(frames: ReadonlyArray<P>, until?: Until): P | undefined =>
  pointsOf(frames, until).find((last) => upTo(last, frames).gap === undefined)

/**
 * The newest frame of another incarnation of the space, with later beats than this point: a space of that name was made anew, and its
 * backups are in one folder with those of the former one.
 */
export const rivalOf = <P extends Placed>(frames: ReadonlyArray<P>, { header: { head, origin } }: P): P | undefined =>
  pointsOf(frames, undefined).find(({ header }) => header.origin !== origin && header.head.beat > head.beat)

/**
 * The frames that lead to the newest point up to an end, in their order: a snapshot, and the ranges after it.
 *
 * @throws NoChain
 */
export const choose = <P extends Placed>(frames: ReadonlyArray<P>, until?: Until): ReadonlyArray<P> => {
  const [last] = pointsOf(frames, until)
  if (last === undefined) {
    const oldest = pointsOf(frames, undefined).at(-1)
    const known = oldest === undefined ? "no frame is there" : `the oldest is another one: ${told(oldest)}`
    throw new NoChain({ code: "backup/absent", detail: `There is no backup up to this point: ${known}` })
  }
  const { chain, gap } = upTo(last, frames)
  if (gap === undefined) return chain
  const found = reachable(frames, until)
  const rest = found === undefined ? "No point has all its files: look for a copy of the absent one" : told(found)
  const { beat } = gap.header.anchor
  const detail = `${last.path} cannot be restored: ${gap.path} follows beat ${beat}, and no file that ends with it is there`
  throw new NoChain({ code: "backup/gap", detail: `${detail}. ${rest}` })
}
