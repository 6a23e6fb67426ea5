/**
 * The routes of exports and imports of spaces.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { beyondSpaces } from "../../access/Decision.ts"
import type { End } from "../../archive/Export.ts"
import { Exports } from "../../archive/Exports.ts"
import { Imports } from "../../archive/Imports.ts"
import type { Fork } from "../../archive/Sessions.ts"
import * as Endpoints from "../../contract/Archive.ts"
import * as Body from "../wire/Body.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import { queryOf } from "./RouteTable.ts"
import type { SpaceTable } from "./SpaceTable.ts"

const ID = /^[a-z0-9]{8,64}$/

/** The end of the frame before a range, of its form in a query. */
const endOf = (since: string | undefined): End | undefined => {
  const [beat, hash] = since?.split("-") ?? []
  return hash === undefined ? undefined : { beat: Number(beat), hash }
}

type Wanted = ReturnType<typeof Endpoints.importQuery>["Type"]

/** @throws RequestRefused */
const wantedOf = ({ url }: Request): Wanted => queryOf(Endpoints.importQuery, Object.fromEntries(new URL(url).searchParams)) as Wanted

type Context = Pick<RouteContext, "hash" | "isEvicted" | "kernel" | "runner" | "signer">

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { hash, isEvicted, kernel, runner, signer }: Context): void => {
  const fork: Fork = (effect) => runner.background(effect, { failed: table.report })
  const host = { fork: isEvicted ? undefined : fork, limit: () => kernel.limits.archiveSessions }
  const exports = new Exports({ hash, signer }, host)
  const imports = new Imports({ kernel, hash }, host)
  // They end with the runtime. A host that is evicted has no such moment.
  if (!isEvicted) fork(Effect.onInterrupt(Effect.never, () => Effect.andThen(exports.end, imports.end)))
  table.ofSpace(Endpoints.exported, (space, { query: { content, from, history, since } }) =>
    Effect.map(exports.part(space, from, { history, content, since: endOf(since) }), (bytes) =>
      new Response(new Uint8Array(bytes), { headers: { "content-type": "application/octet-stream", "cache-control": "no-store" } })))
  table.serve(Endpoints.imported, ({ params: { id, space }, request, token }) => Effect.gen(function*() {
    const wanted = yield* Effect.try({ try: () => wantedOf(request), catch: (error) => error as RequestRefused })
    if (!ID.test(id)) {
      return yield* Effect.fail(new RequestRefused({ code: "query/invalid", reason: "The id of an import has 8 to 64 of a-z and 0-9" }))
    }
    const bytes = Stream.fromAsyncIterable(Body.chunks(request, Endpoints.MAX_PART), (error) => error as RequestRefused)
    const mayRead = (other: string): boolean => token === undefined || beyondSpaces(token, other) === undefined
    const taken = yield* imports.take({ ...wanted, space, id, why: wanted.why ?? "copy", bytes, mayRead })
    if (!("root" in taken)) return { space, frame: taken.frame, next: taken.next }
    const { absent, head: { beat }, root } = taken
    return { space, root, beat, ...absent === undefined ? {} : { absent } }
  }))
}
