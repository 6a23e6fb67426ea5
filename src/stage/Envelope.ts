/**
 * Envelopes: the addresses that a run may write.
 *
 * An envelope is checked at each write and again at the merge. Only enzymes of the project that the configuration
 * grants `system` can write cells of the runtime.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Address from "../cell/Address.ts"
import * as Pattern from "../cell/Pattern.ts"

/** The cells that only the runtime writes. */
const reserved = [
  "/rt",
  "/sys",
  "/net",
  "/cas",
  "/data/rv",
  "/data/flow",
  "/data/mailbox",
  "/data/inbox/flow/inst_event"
]

/** The cells that only their own verbs and the beat write, under any envelope. */
const sealed = ["/rt/ops", "/sys/index"]

/** The cells with parts that are written once: by the runtime, or by an enzyme with the grant unless `sealed` forbids it. */
const written = [...sealed, "/data/mailbox/diag/msgs"]

/**
 * A run wrote an address outside its envelope.
 */
export class OutsideEnvelope extends Data.TaggedError("OutsideEnvelope")<{ readonly address: string; readonly envelope: string }> {
  readonly code = "envelope/outside"
  override get message() {
    return `A run wrote ${this.address}, which is outside its envelope (${this.envelope}). ` +
      "Name the address in the enzyme's \"writes\", or write elsewhere"
  }
}

/**
 * A run wrote a sealed cell of the runtime: a dossier, a diagnostic or an index.
 */
export class SealedCell extends Data.TaggedError("SealedCell")<{ readonly address: string }> {
  readonly code = "cell.store.readonly"
  override get message() {
    return `A run wrote ${this.address}, which is sealed: only the runtime writes there. ` +
      "Use the verbs of the transaction, such as tx.op.setState and tx.report, or write elsewhere"
  }
}

/** One declared pattern: documents, and a place inside them. */
interface Part {
  readonly documents: Pattern.Pattern
  /** The literal segments at the start of the pattern. */
  readonly prefix: string
  /** The remaining segments: `**` (all descendants), `*` (all children), or others. */
  readonly rest: "all" | "children" | "other"
  readonly scope: string | undefined
  readonly path: Address.Path
}

/**
 * A parsed envelope. `parts` is `undefined` without a declaration: any cell except for the runtime's own.
 */
export interface Envelope {
  readonly text: string
  readonly parts: ReadonlyArray<Part> | undefined
  readonly system: boolean
}

/**
 * Parses the envelope of a descriptor.
 *
 * @throws InvalidPattern, InvalidAddress
 */
export const make = (writes: ReadonlyArray<string> | undefined, system: boolean): Envelope => ({
  text: writes === undefined ? "any cell but the runtime's own" : writes.length === 0 ? "nothing" : writes.join(", "),
  parts: writes?.map(part),
  system
})

const part = (text: string): Part => {
  const hash = text.indexOf("#")
  const document = hash < 0 ? text : text.slice(0, hash)
  const question = document.indexOf("?")
  const place = `/x${question < 0 ? "" : document.slice(question)}${hash < 0 ? "" : text.slice(hash)}`
  const address = Address.parse(place)
  const documents = Pattern.parse(question < 0 ? document : document.slice(0, question))
  const literals = documents.segments.findIndex((segment) => segment.kind !== "literal")
  const prefix = literals < 0 ? documents.text : documents.text.split("/").slice(0, literals + 1).join("/")
  return {
    documents,
    prefix,
    rest: restOf(documents.text, prefix),
    scope: question < 0 ? undefined : address.scope,
    path: address.path
  }
}

const restOf = (text: string, prefix: string): Part["rest"] => {
  if (prefix === "") return "other"
  return text === `${prefix}/**` ? "all" : text === `${prefix}/*` ? "children" : "other"
}

/**
 * Tests whether a cell belongs to the runtime.
 */
export const isReserved = (id: string): boolean => isBelow(reserved, id)

/**
 * The folder of the runtime that contains a cell; `undefined` for a cell of the user.
 */
export const reservedFolder = (id: string): string | undefined => reserved.find((root) => Address.isWithin(root, id))

const isBelow = (roots: ReadonlyArray<string>, id: string): boolean => {
  for (const root of roots) if (Address.isWithin(root, id)) return true
  return false
}

/**
 * Returns the first pattern that includes cells of the runtime, if there is one.
 */
export const problemOf = (writes: ReadonlyArray<string>): string | undefined =>
  writes.find((text) => {
    const [start = ""] = text.split(/[*#?]|\/:/, 1)
    const literal = start.replace(/\/$/, "")
    return literal !== "" && isReserved(literal)
  })

/**
 * Throws unless the envelope allows a write at `address`.
 *
 * @throws OutsideEnvelope, SealedCell
 */
export const check = (envelope: Envelope, address: Address.Address): void => {
  if (allows(envelope, address)) return
  if (isBelow(written, address.id)) throw new SealedCell({ address: address.text })
  throw new OutsideEnvelope({ address: address.text, envelope: envelope.text })
}

const allows = (envelope: Envelope, address: Address.Address): boolean => {
  if (isBelow(envelope.system ? sealed : reserved, address.id)) return false
  if (envelope.parts === undefined) return true
  for (const part of envelope.parts) if (covers(part, address)) return true
  return false
}

/** The literal prefix decides most writes, without splitting the address. */
const covers = ({ documents, path, prefix, rest, scope }: Part, { id, path: at, scope: own }: Address.Address): boolean => {
  if (!id.startsWith(prefix) || (scope !== undefined && scope !== own)) return false
  if (path.length > at.length || !Address.overlaps(path, at)) return false
  if (rest === "all") return Address.isWithin(prefix, id)
  if (rest === "children") return id.lastIndexOf("/") === prefix.length && id.length > prefix.length + 1
  return Pattern.matches(documents, id.slice(1).split("/"), "exact")
}

/**
 * Tests whether a write inside the envelope could change the value at an address.
 */
export const touches = ({ parts }: Envelope, address: Address.Address): boolean =>
  parts === undefined || parts.some(({ documents, path, prefix, scope }) =>
    address.id.startsWith(prefix) && (scope === undefined || scope === address.scope) && Address.overlaps(path, address.path) &&
    Pattern.matches(documents, address.id.slice(1).split("/"), "exact")
  )

/**
 * Tests whether a write inside the envelope could be at a cell or below it. It may be true without such a write.
 */
export const mayTouch = ({ parts }: Envelope, id: string): boolean =>
  parts === undefined || parts.some(({ prefix }) => Address.isWithin(prefix, id) || Address.isWithin(id, prefix))

/**
 * Tests whether one envelope includes all whole documents of another. Two patterns with wildcards match only if they
 * are equal, or if one is a literal prefix with `**`.
 */
export const holds = (outer: Envelope, inner: Envelope): boolean =>
  inner.parts?.every(({ documents, prefix, scope }) =>
    outer.parts?.some((part) => {
      if (part.path.length > 0 || (part.scope !== undefined && part.scope !== scope)) return false
      if (part.documents.text === "/**" || part.documents.text === documents.text) return true
      if (part.rest === "all" && prefix !== "" && Address.isWithin(part.prefix, prefix)) return true
      return documents.text === prefix && Pattern.matches(part.documents, prefix.slice(1).split("/"), "exact")
    }) ?? true
  ) ?? outer.parts === undefined

/**
 * Tests whether a write inside the envelope could create or delete a document directly below a cell.
 */
export const touchesBelow = ({ parts }: Envelope, { id, scope: own }: Address.Address): boolean =>
  parts === undefined || parts.some(({ documents, prefix, scope }) => {
    if (scope !== undefined && scope !== own) return false
    const names = id === "/" ? [] : id.slice(1).split("/")
    const literal = prefix.split("/").slice(1)
    const shared = Math.min(names.length, literal.length)
    for (let i = 0; i < shared; i++) if (names[i] !== literal[i]) return false
    return documents.text.includes("**") || documents.segments.length === names.length + 1
  })
