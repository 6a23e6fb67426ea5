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
type Described = Pick<Header.Header, "anchor" | "clock" | "head" | "kind">

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

const isUntil = (frame: Placed, until: Until | undefined): boolean =>
  until === undefined || ("beat" in until ? frame.header.head.beat <= until.beat : madeAt(frame) <= until.time)

/** The newest first. Of those with one beat and time, the greater path is newer. */
const newestFirst = (one: Placed, other: Placed): number =>
  madeAt(other) - madeAt(one) || other.header.head.beat - one.header.head.beat || (other.path < one.path ? -1 : 1)

/** The frames up to one, from their snapshot on. */
const upTo = (last: Placed, frames: ReadonlyArray<Placed>): ReadonlyArray<Placed> => {
  const chain = [last]
  for (let first = last; first.header.kind !== "snapshot";) {
    const { header } = first
    const previous = frames.filter((frame) => !isEmpty(frame.header) && follows(header, frame.header.head))
    const found = previous.find(({ header: { kind } }) => kind === "snapshot") ?? previous[0]
    if (found === undefined) {
      const detail = `${first.path} follows beat ${header.anchor.beat}, and no frame that ends with it is there. Restore an earlier point`
      throw new NoChain({ code: "backup/gap", detail })
    }
    chain.unshift(found)
    first = found
  }
  return chain
}

/**
 * The frames that lead to the newest point up to an end, in their order: a snapshot, and the ranges after it.
 *
 * @throws NoChain
 */
export const choose = (frames: ReadonlyArray<Placed>, until?: Until): ReadonlyArray<Placed> => {
  const points = frames.filter(({ header: { kind } }) => kind === "snapshot" || kind === "range").sort(newestFirst)
  const last = points.find((frame) => isUntil(frame, until))
  if (last !== undefined) return upTo(last, points)
  const oldest = points.at(-1)
  const known = oldest === undefined
    ? "no frame is there"
    : `the oldest ends with beat ${oldest.header.head.beat}, and was made at ${new Date(madeAt(oldest)).toISOString()}`
  throw new NoChain({ code: "backup/absent", detail: `There is no backup up to this point: ${known}` })
}
