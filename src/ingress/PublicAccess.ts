/**
 * The access of a request without a credential: to the reads that the configuration declares public, and nothing else.
 *
 * @module
 */
import * as Decision from "../access/Decision.ts"
import * as Label from "../cell/Label.ts"
import { spaceIn, SPACES } from "../contract/Paths.ts"
import * as PublicReads from "../contract/PublicReads.ts"
import { pathOf } from "./Access.ts"
import type { Public } from "./Caller.ts"

/** The name of those who read without a credential. No reader of a configuration has it. */
const NAME = "@public"

/** The cells of a space that everybody reads: their ids, and the paths of their requests. */
interface Open {
  readonly within: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
}

const inSpaces = (reads: ReadonlyArray<PublicReads.PublicRead>): ReadonlyMap<string, Open> => {
  const spaces = new Map<string, Open>()
  for (const read of reads) {
    if (!("space" in read)) continue
    const { paths, within } = spaces.get(read.space) ?? { paths: [], within: [] }
    spaces.set(read.space, { within: [...within, read.cell], paths: [...paths, `${SPACES}/${read.space}/cells${read.cell}`] })
  }
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
    if ((method !== "GET" && method !== "HEAD") || headers.has("upgrade")) return undefined
    const path = pathOf(request)
    if (pages.has(path)) return { isPublic: true }
    const open = spaces.get(spaceIn(path) ?? "")
    return open !== undefined && Decision.isCovered(open.paths, path)
      ? { reader: { name: NAME, atoms: Label.none, within: open.within }, isPublic: true }
      : undefined
  }
}
