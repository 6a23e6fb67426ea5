/**
 * Ways: where a write goes that meets a link.
 *
 * A write goes on at the address that a link names, unless it writes the link
 * itself. The lobby of the mailroom is different: staging leaves a link to the
 * staged request there, which is to be read only. A whole request that is put
 * there takes the place of the link, and the mailroom finds the duplicate.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Address } from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"

/** `itself`: a link or a deletion, which ends at a link. `whole`: another value in place of the old one. `into`: a change of what is there. */
export type Way = "itself" | "whole" | "into"

/** An entry of the lobby: `/data/inbox/<namespace>/<bucket>/<name>`. */
const entry = /^\/data\/inbox\/[^/]+\/[^/]+\/[^/]+$/

/**
 * A staged request was to be changed from the lobby.
 *
 * @category errors
 * @since 0.1.0
 */
export class RequestStaged extends Schema.TaggedError<RequestStaged>()("RequestStaged", { address: Schema.String, staged: Schema.String }) {
  readonly code = "mailroom/staged"
  override get message() {
    return `The request at ${this.address} is staged as ${this.staged} and cannot be changed from the lobby. Put a whole request under another name`
  }
}

/** The way of a write that sets a value; `undefined` deletes. */
export const of = (value: unknown): Way => value === undefined || Link.is(value) ? "itself" : "whole"

/** The same for a value that is encoded already. */
export const ofDocument = (document: Document | undefined): Way => document === undefined || Link.is(document.plain) ? "itself" : "whole"

/**
 * Whether a write ends at the link that it meets at a depth of its path.
 *
 * @throws RequestStaged
 * @category predicates
 * @since 0.1.0
 */
export const ends = (way: Way, address: Address, { depth, link }: { readonly depth: number; readonly link: Link.Link }): boolean => {
  const isAtLink = depth === address.path.length
  if (depth > 0 || !entry.test(address.id)) return way === "itself" && isAtLink
  if (way !== "into" && isAtLink) return true
  throw new RequestStaged({ address: address.text, staged: Link.target(link).text })
}
