/**
 * HTTP routes for rendezvous: the list, one entry and its stream, and spawn, report, kill, release and resched.
 *
 * An external worker reports with the token of its rendezvous and needs no other token.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { RendezvousRow } from "../kernel/view/Space.ts"
import * as Entries from "../rendezvous/Entry.ts"
import { RendezvousAbsent } from "../rendezvous/RendezvousError.ts"
import { TokenRefused } from "../rendezvous/TokenRefused.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import type { RendezvousSpec } from "../stage/Launch.ts"
import * as Body from "./Body.ts"
import type { FeatureContext } from "./Feature.ts"
import * as Json from "./Json.ts"
import * as RecordRoutes from "./RecordRoutes.ts"
import * as Wire from "./Wire.ts"
import * as WorkerToken from "./WorkerToken.ts"

const rendezvous: RecordRoutes.Records<RendezvousRow> = {
  segment: "rv",
  id: "key",
  list: (space, page) => Effect.map(space.rv.list(page), ({ next, rendezvous }) => ({ rendezvous: rendezvous.map(shown), next })),
  get: (space, key) => space.rv.get(key),
  absent: (key) => new RendezvousAbsent({ key }),
  cell: (key) => `/data/rv/${key}`,
  json: (row) => shown(row)
}

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: FeatureContext): void => {
  const { find } = context
  const target = { find, records: rendezvous }
  const path = RecordRoutes.recordPath(rendezvous)
  RecordRoutes.reads(app, rendezvous, context)
  app.post(RecordRoutes.listPath(rendezvous), async (c) => {
    const spec = await Body.json(c.req.raw)
    const space = await find(c.req.param("space") ?? "")
    const spawned = await Effect.runPromise(space.rv.spawn((spec ?? undefined) as RendezvousSpec))
    const location = `/v1/spaces/${space.name}/rv/${encodeURIComponent(spawned.key)}`
    return Json.answer(spawned, { status: 201, headers: { location, "cache-control": "no-store" } })
  })
  app.post(`${path}/token`, async (c) => {
    const space = await find(c.req.param("space") ?? "")
    return Json.uncached(await Effect.runPromise(space.rv.claim(c.req.param("key") ?? "")))
  })
  app.post(`${path}/report`, async (c) => {
    const { telemetry } = await Body.fields(c.req.raw, { telemetry: "any" })
    const key = c.req.param("key") ?? ""
    const token = WorkerToken.of(c.req.raw.headers)
    const name = c.req.param("space") ?? ""
    // Anyone may send a report, so a closed space opens only for a good token.
    if (token !== undefined) await proved(context, { space: name, key, token })
    const space = await find(name)
    return Json.uncached({ key, beat: await Effect.runPromise(space.rv.report(key, telemetry, { token })) })
  })
  RecordRoutes.command(app, target, {
    verb: "kill",
    fields: { mode: "string", wait: "number" },
    execute: (space, key, how: { readonly mode?: string; readonly wait?: number }) => space.rv.kill(key, how)
  })
  RecordRoutes.command(app, target, { verb: "release", execute: (space, key) => space.rv.release(key) })
  RecordRoutes.command(app, target, {
    verb: "resched",
    fields: { delta: "number" },
    execute: (space, key, { delta }: { readonly delta: number }) => space.rv.resched(key, delta)
  })
}

/** Fails with `TokenRefused` unless the token is good, for a space that is closed. An open space looks itself. */
const proved = async (
  { hash, kernel }: Pick<FeatureContext, "hash" | "kernel">,
  { key, space, token }: { readonly space: string; readonly key: string; readonly token: string }
): Promise<void> => {
  if (kernel.opened(space) !== undefined) return
  const stored = Entries.isKey(key) ? kernel.stored(space, Entries.address(key).key) : Effect.undefined
  // An unknown space is answered like a wrong token, so that a worker cannot probe for spaces.
  const entry = await Effect.runPromise(Effect.catchIf(stored, isAbsent, () => Effect.undefined))
  if (Entries.read(entry)?.token_id !== hash.hex(token)) throw new TokenRefused({ key })
}

const isAbsent = (error: unknown): boolean =>
  error instanceof PersistenceError && (error.code === "space/unknown" || error.code === "space/name")

/** A row as JSON, without the token id, so that tokens cannot be guessed offline. */
const shown = ({ telemetry, token_id: _, ...row }: RendezvousRow): object => ({ ...row, telemetry: Wire.inline(telemetry) })
