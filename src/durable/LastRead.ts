/**
 * The newest read of a draft, for the log of a durable run.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import * as Content from "../stage/Content.ts"
import type { Draft } from "../stage/Draft.ts"

/** The address that a read reached over links, and the document there. */
export interface LastRead {
  readonly address: Address.Address
  readonly document?: Document.Document | undefined
}

/** The newest read of a draft, at this address. Content is read without a line in the log of the draft. */
export const lastRead = ({ reads }: Draft, at: string): LastRead => {
  if (reads === undefined || Content.hashOf(at) !== undefined) return { address: Address.parse(at) }
  const address = reads.address(reads.length - 1)
  const document = reads.documents[reads.length - 1] as Document.Document | undefined
  const linked = document === undefined ? undefined : Link.along(Document.along(document, address.path), address.path)
  return { address: linked === undefined ? address : Link.target(linked.link), document }
}
