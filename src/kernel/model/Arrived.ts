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
  /** The time of its newest part, in milliseconds since 1970. */
  readonly at: number
  /** The state of the importer; absent before the header of the frame is there. */
  readonly progress?: Progress
}

/** The source of a space that arrived, until its first beat. */
export interface Arrived {
  readonly why: "copy" | "restore"
  /** The name of the exported space, with its incarnation. */
  readonly from: string
  /** Its newest beat. */
  readonly beat: number
}

/** The note of an import; `undefined` for one that has none yet. */
export const importing = <Progress>(note: string): Importing<Progress> | undefined =>
  note === "" ? undefined : JSON.parse(note) as Importing<Progress>

/** The note of a space that arrived. */
export const arrived = (note: string): Arrived => JSON.parse(note) as Arrived
