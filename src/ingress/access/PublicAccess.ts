/**
 * The access of a request without a credential: to the reads that the configuration declares public, and nothing else.
 *
 * @module
 */
import * as Decision from "../../access/Decision.ts"
import * as Label from "../../cell/Label.ts"
import { cellIn, spaceIn, SPACES } from "../../contract/Paths.ts"
import * as PublicReads from "../../contract/PublicReads.ts"
import { pathOf } from "./Access.ts"
import type { Public } from "./Caller.ts"
import { isUpgrade } from "./RequestOrigin.ts"

/** The ids of the cells that everybody reads, by their space. */
const inSpaces = (reads: ReadonlyArray<PublicReads.PublicRead>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const spaces = new Map<string, ReadonlyArray<string>>()
  for (const read of reads) if ("space" in read) spaces.set(read.space, [...spaces.get(read.space) ?? [], read.cell])
  return spaces
}

/**
 * Creates the access of requests without a credential, for the texts of a configuration; see {@link PublicReads.read}.
 *
 * Cells are seen through the view of a reader without clearance that ends at them. So labels withhold what they withhold from each
 * reader, and no link leads out. A WebSocket needs a credential, since an object keeps who opened it.
 */
export const make = (texts: ReadonlyArray<string>): Public => {
  if (texts.length === 0) return () => undefined
  const reads = texts.flatMap((text) => PublicReads.read(text) ?? [])
  const pages = new Set(reads.flatMap((read) => "page" in read ? [read.page] : []))
  const spaces = inSpaces(reads)
  return (request) => {
    const { headers, method } = request
    if ((method !== "GET" && method !== "HEAD") || isUpgrade(headers)) return undefined
    const path = pathOf(request)
    if (pages.has(path)) return { kind: "public" }
    const space = spaceIn(path) ?? ""
    const within = spaces.get(space)
    const cell = within !== undefined && path.startsWith(`${SPACES}/${space}/cells/`) ? cellIn(request.url) : undefined
    return within !== undefined && cell !== undefined && Decision.isCovered(within, cell)
      ? { reader: { name: PublicReads.READER, atoms: Label.none, of: "everybody", within, scopes: [] }, kind: "public" }
      : undefined
  }
}
