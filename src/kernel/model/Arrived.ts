/**
 * The notes of an import, as its store keeps them: its progress, and then the source of the space.
 *
 * @module
 */

/** The time after the newest part at which an import is given up, in milliseconds: 1 hour. */
export const GIVEN_UP = 3_600_000

/** An import in progress. */
export interface Importing<Progress = unknown> {
  /** The id of the import, which its sender chose. */
  readonly id: string
  /** Its reason; absent in the notes of earlier versions. */
  readonly why?: Arrived["why"]
  /** The time of its first part, in milliseconds since 1970; absent in the notes of earlier versions. */
  readonly begun?: number | undefined
  /** The time of its newest part, in milliseconds since 1970. */
  readonly at: number
  /** The state of the importer; absent before the header of the frame is there. */
  readonly progress?: Progress
}

/** Content that a frame refers to, and that an import found nowhere. */
export interface AbsentContent {
  /** The number of all. */
  readonly count: number
  /** The digests of the first ones, up to {@link NAMED} at the end of the import, and to {@link NOTED} before. */
  readonly hashes: ReadonlyArray<string>
}

/** The most absent contents that a space tells by their digests. */
export const NAMED = 20

/** The most digests of absent contents in the note of an import. */
export const NOTED = 1000

/** The absent content with one more. */
export const withAbsent = ({ count, hashes }: AbsentContent = { count: 0, hashes: [] }, hash: string): AbsentContent =>
  hashes.includes(hash) ? { count, hashes } : { count: count + 1, hashes: count < NOTED ? [...hashes, hash] : hashes }

/** The absent content at the end of an import, without that which is there by now; `undefined` for none. */
export const without = (absent: AbsentContent | undefined, isThere: (hash: string) => boolean): AbsentContent | undefined => {
  const { count, hashes } = absent ?? { count: 0, hashes: [] }
  const left = hashes.filter((hash) => !isThere(hash))
  const all = count - hashes.length + left.length
  return all === 0 ? undefined : { count: all, hashes: left.slice(0, NAMED) }
}

/** The source of a space that arrived, until its first beat. */
export interface Arrived {
  readonly why: "copy" | "restore"
  /** The name of the exported space, with its incarnation. */
  readonly from: string
  /** Its newest beat. */
  readonly beat: number
  /** The content that it refers to and is without. */
  readonly absent?: AbsentContent | undefined
}

/** The note of an import; `undefined` for one that has none yet. */
export const importing = <Progress>(note: string): Importing<Progress> | undefined =>
  note === "" ? undefined : JSON.parse(note) as Importing<Progress>

/**
 * The beginning of the names of an import's own uploads to the content store. Another import has another one, even with the same id,
 * so that its removal leaves the uploads of a space that was restored before.
 */
export const uploadsOf = (hash: (text: string) => string, { begun = 0, id }: Pick<Importing, "begun" | "id">): string =>
  hash(`${id} ${begun}`).slice(0, 16)

/** The note of a space that arrived. */
export const arrived = (note: string): Arrived => JSON.parse(note) as Arrived
