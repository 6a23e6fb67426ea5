/**
 * Journal lines of expired records.
 *
 * @module
 */

/** The records of one kind to expire. */
export interface ExpiredRecords {
  readonly kind: string
  /** The newest expired clock; -1 if none expires by age. */
  readonly last: number
  /** The number of the oldest records to expire at any age. */
  readonly excess: number
}

/** The records of one kind to expire. */
export type RetiredLine = readonly [kind: string, last: number, excess: number]

/** The line of expired records, as JSON text. */
export const write = ({ excess, kind, last }: ExpiredRecords): string => JSON.stringify([kind, last, excess] satisfies RetiredLine)

/** The expired records of a line. */
export const read = ([kind, last, excess]: RetiredLine): ExpiredRecords => ({ kind, last, excess })
