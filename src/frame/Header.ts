/**
 * The header of a frame: canonical JSON that describes its contents, before the first row.
 *
 * A reader that does not know the version, the kind, a capability or a feature refuses the frame when it has the header.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Capability from "./Capability.ts"
import { Refusal } from "./FrameRefused.ts"

/** The version of the format. */
export const VERSION = 1

/** The newest form of rows: that of a store of this format. */
export const ROWS = 10

/** The most bytes of a header. */
export const MAX_HEADER = 65_536

/** The features that this version knows. None has needed one so far. */
const FEATURES: ReadonlySet<string> = new Set<string>()

/**
 * The kinds: the state at a beat, the journal between two beats, changes of a subtree, signals and their answers, and the
 * opening of a session.
 */
export const kinds = ["snapshot", "range", "delta", "batch", "hello"] as const

/** A kind. */
export type Kind = typeof kinds[number]

/** A beat with the digest of its row in the journal; beat -1 and no digest before the first. */
export interface Point {
  readonly beat: number
  readonly hash: string
}

/**
 * The header.
 */
export interface Header {
  readonly v: number
  readonly kind: Kind
  readonly space: string
  /** The name of the space with its incarnation. */
  readonly origin: string
  /** The beat after which the frame begins; -1 for all. */
  readonly from: number
  /** The beat with which the frame ends. */
  readonly to: number
  /** The newest beat of the frame. */
  readonly head: Point
  /** The predecessor of the oldest row of the journal in the frame. */
  readonly anchor: Point
  /** The format of the rows: that of a store. */
  readonly format: number
  /** The bits of `Capability`, as a number from 0 to 4,294,967,295. */
  readonly caps: number
  readonly features: ReadonlyArray<string>
  /** The clock of the head, in milliseconds since 1970. */
  readonly clock: number
}

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === "string" && value.length <= 1000
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isBeat: Test = (value) => value === -1 || isCount(value)
const isHash: Test = (hash) => typeof hash === "string" && /^(?:[0-9a-f]{64})?$/.test(hash)

const isPoint: Test = (value) => hasFields(value, { beat: isBeat, hash: isHash })

const fields: Readonly<Record<keyof Header, Test>> = {
  v: isCount,
  kind: isText,
  space: isText,
  origin: isText,
  from: isBeat,
  to: isBeat,
  head: isPoint,
  anchor: isPoint,
  format: isCount,
  caps: (value) => isCount(value) && (value as number) < 2 ** 32,
  features: (value) => Array.isArray(value) && value.length <= 100 && value.every(isText),
  clock: isCount
}

const hasFields = (value: unknown, tests: Readonly<Record<string, Test>>): boolean =>
  typeof value === "object" && value !== null &&
  Object.entries(tests).every(([name, test]) => test((value as Record<string, unknown>)[name]))

/**
 * The bytes of a header.
 */
export const encode = (header: Header): Uint8Array => new TextEncoder().encode(Document.entry(header))

/**
 * Reads a header. Fields that this version does not know stay unread.
 *
 * @throws Refusal
 */
export const decode = (bytes: Uint8Array): Header => {
  const value = parse(bytes)
  const version = (value as Partial<Header> | null)?.v
  if (isCount(version) && version !== VERSION) {
    throw new Refusal("frame/unknown", `its version is ${version}, and this one reads ${VERSION}`)
  }
  const wrong = Object.entries(fields).find(([name, test]) => !test((value as Record<string, unknown> | null)?.[name]))
  if (wrong !== undefined) throw new Refusal("frame/magic", `its header has no valid field "${wrong[0]}"`)
  const header = value as Header
  if (!kinds.includes(header.kind)) throw new Refusal("frame/unknown", `its kind is ${JSON.stringify(header.kind.slice(0, 40))}`)
  const [bit] = Capability.unknown(header.caps)
  if (bit !== undefined) throw new Refusal("frame/unknown", `it needs the capability of bit ${bit}`)
  if (header.format > ROWS) throw new Refusal("frame/unknown", `its rows have format ${header.format}, and this version reads ${ROWS}`)
  const feature = header.features.find((name) => !FEATURES.has(name))
  if (feature !== undefined) throw new Refusal("frame/unknown", `it needs the feature ${JSON.stringify(feature.slice(0, 40))}`)
  return header
}

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new Refusal("frame/magic", "its header is no JSON")
  }
}
