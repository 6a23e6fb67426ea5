/**
 * The resolution of a write that meets a link.
 *
 * A write continues at the linked address, unless it replaces the link itself. The lobby of the mailroom is an
 * exception. There staging leaves a read-only link to the staged request. A new request replaces the link, and the
 * mailroom detects the duplicate.
 *
 * @module
 */
import * as Data from "effect/Data"
import type { Address } from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import * as Link from "../../cell/Link.ts"

/**
 * `itself`: a link or a deletion, which replaces the link. `whole`: another value that replaces the old one. `into`: a
 * change within the value.
 */
export type WriteMode = "itself" | "whole" | "into"

/** An entry of the lobby: `/data/inbox/<namespace>/<bucket>/<name>`. */
const entry = /^\/data\/inbox\/[^/]+\/[^/]+\/[^/]+$/

/**
 * A run tried to change a staged request through the lobby.
 */
export class RequestStaged extends Data.TaggedError("RequestStaged")<{ readonly address: string; readonly staged: string }> {
  readonly code = "mailroom/staged"
  override get message() {
    return `The request at ${this.address} is staged as ${this.staged} and cannot be changed from the lobby. ` +
      "Put a whole request under another name"
  }
}

/** Returns the resolution of a write that sets a value; `undefined` deletes. */
export const of = (value: unknown): WriteMode => value === undefined || Link.is(value) ? "itself" : "whole"

/** The same for an encoded value. */
export const ofDocument = (document: Document | undefined): WriteMode =>
  document === undefined || Link.is(document.plain) ? "itself" : "whole"

/**
 * Tests whether a write replaces the link that it meets at a depth of its path.
 *
 * @throws RequestStaged
 */
export const ends = (mode: WriteMode, address: Address, { depth, link }: { readonly depth: number; readonly link: Link.Link }): boolean => {
  const isAtLink = depth === address.path.length
  if (depth > 0 || !entry.test(address.id)) return mode === "itself" && isAtLink
  if (mode !== "into" && isAtLink) return true
  throw new RequestStaged({ address: address.text, staged: Link.target(link).text })
}
