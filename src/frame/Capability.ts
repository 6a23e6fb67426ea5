/**
 * The capabilities that the reader of a frame needs: a bit for each, in 32 bits.
 *
 * @module
 */

/** The bits by name. */
export const bits = {
  /** Content lies in the frame. */
  content: 1 << 0,
  /** Content is named by its digest and size, and comes from elsewhere. */
  content_ref: 1 << 1,
  /** Chunks may be compressed. */
  deflate: 1 << 2,
  /** The kept rows of the journal lie in the frame. */
  history: 1 << 3,
  /** Cells have labels. */
  labels: 1 << 4,
  /** Observations of reactive nodes lie in the frame. */
  observations: 1 << 5,
  /** Durable runs are in flight. */
  runs: 1 << 6,
  /** A table of contents lies before the seal. */
  toc: 1 << 7,
  /** The seal has a signature. */
  signed: 1 << 8
} as const

/** A capability. */
export type Capability = keyof typeof bits

const names = Object.keys(bits) as ReadonlyArray<Capability>

const KNOWN = names.reduce((all, name) => all | bits[name], 0)

/**
 * The bits of capabilities.
 */
export const of = (capabilities: ReadonlyArray<Capability>): number => capabilities.reduce((all, name) => all | bits[name], 0)

/**
 * Whether bits have a capability.
 */
export const has = (caps: number, capability: Capability): boolean => (caps & bits[capability]) !== 0

/**
 * The names of the capabilities.
 */
export const namesOf = (caps: number): ReadonlyArray<Capability> => names.filter((name) => has(caps, name))

/**
 * The numbers of the set bits that this version does not know.
 */
export const unknown = (caps: number): ReadonlyArray<number> =>
  Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => ((caps & ~KNOWN) >>> bit & 1) === 1)
