/**
 * The names of files of backups.
 *
 *     000001-0002-1234-0f3c91ab5e77d204-20261128T085512123Z.frame
 *
 * In their order: the chain, the number in it, the newest beat, the first digits of the digest of that beat, and the time. A chain is a
 * snapshot, which has number 0, and the ranges that follow it. So their fields tell the order in which a space was backed up,
 * whatever the clock said, and the next backup needs no byte of the one before: that may be encrypted.
 *
 * @module
 */
import type { End } from "./Export.ts"

/** The description of a backup in its name. */
export interface BackupName {
  /** The number of the chain, from 1. */
  readonly chain: number
  /** The number in the chain; 0 for its snapshot. */
  readonly n: number
  /** The newest beat, with the first 16 digits of its digest. */
  readonly end: End
  /** The time of the backup, in milliseconds since 1970. */
  readonly at: number
  readonly isEncrypted: boolean
}

/** A backup in a place: its description, and the name of its file. */
export interface Known extends BackupName {
  readonly file: string
}

/** The digits of a digest in a name. */
const DIGITS = 16

/** The end of the name of a file that is not whole. */
export const PARTIAL = ".partial"

const FORM = /^(\d{6})-(\d{4})-(\d{1,15})-([0-9a-f]{16})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.frame(\.age)?$/

/** The greatest numbers of a name. */
const MAX_CHAIN = 999_999
const MAX_NUMBER = 9999

const digits = (value: number, length: number): string => String(value).padStart(length, "0")

/** The time in the form of a name. */
const timeOf = (at: number): string => new Date(at).toISOString().replaceAll(/[-:.]/g, "")

/** The name of a file. */
export const write = ({ at, chain, end, isEncrypted, n }: BackupName): string =>
  `${digits(chain, 6)}-${digits(n, 4)}-${end.beat}-${end.hash.slice(0, DIGITS)}-${timeOf(at)}.frame${isEncrypted ? ".age" : ""}`

/** Reads the name of a file; `undefined` for another file. */
export const read = (file: string): Known | undefined => {
  const [, chain, n, beat, hash, ...rest] = FORM.exec(file) ?? []
  if (hash === undefined) return undefined
  const [year, month, day, hour, minute, second, millis, age] = rest
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millis}Z`)
  if (Number.isNaN(at)) return undefined
  return { file, chain: Number(chain), n: Number(n), end: { beat: Number(beat), hash }, at, isEncrypted: age !== undefined }
}

/** The older first. Two processes may have given one number: then the beat decides, and the time. */
const oldestFirst = (one: Known, other: Known): number =>
  one.chain - other.chain || one.n - other.n || one.end.beat - other.end.beat || one.at - other.at || (one.file < other.file ? -1 : 1)

/** The backups among the names of a folder, from the oldest to the newest. */
export const all = (files: ReadonlyArray<string>): ReadonlyArray<Known> =>
  files.flatMap((file) => read(file) ?? []).toSorted(oldestFirst)

/** The place of the next backup: that of a range in the newest chain, or of the snapshot of another one. */
export const next = (known: ReadonlyArray<Known>, isRange: boolean): Pick<BackupName, "chain" | "n"> => {
  const newest = known.at(-1)
  return isRange ? { chain: newest?.chain ?? 1, n: (newest?.n ?? 0) + 1 } : { chain: (newest?.chain ?? 0) + 1, n: 0 }
}

/** Whether a name for a further range of the newest chain is left, and one for another chain. */
export const hasRoom = (known: ReadonlyArray<Known>): { readonly range: boolean; readonly chain: boolean } => {
  const { chain = 0, n = 0 } = known.at(-1) ?? {}
  return { range: n < MAX_NUMBER, chain: chain < MAX_CHAIN }
}

/**
 * The oldest chain, from its newest file to its snapshot, if a later chain has begun before `cutoff`: all states since then are in the
 * later ones. None otherwise, so the newest chain always stays.
 */
export const expired = (known: ReadonlyArray<Known>, cutoff: number): ReadonlyArray<Known> => {
  const [oldest] = known
  if (oldest === undefined) return []
  const isLater = known.some(({ at, chain, n }) => chain > oldest.chain && n === 0 && at <= cutoff)
  return isLater ? known.filter(({ chain }) => chain === oldest.chain).toReversed() : []
}
