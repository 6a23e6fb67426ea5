/**
 * The routes of ledgers, made from their faces: the list of records, one record and its stream, and verbs.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Context, Hono } from "hono"
import * as Codec from "../contract/Codec.ts"
import type { Face, PageRequest, Verb } from "../contract/Face.ts"
import type { ControlError, ReadError } from "../kernel/view/Expected.ts"
import type { Space } from "../kernel/view/Space.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import { RequestRefused } from "./Problem.ts"
import type { RouteContext } from "./RouteContext.ts"
import * as Sse from "./Sse.ts"
import * as WorkerToken from "./WorkerToken.ts"

type Answer = Readonly<Record<string, unknown>>

type Execute = (...args: ReadonlyArray<unknown>) => Effect.Effect<Answer, ControlError>

/** The API of a ledger in a space, whichever ledger it is. */
type AnyClient = Readonly<Record<string, Execute>> & {
  readonly list: (page: PageRequest) => Effect.Effect<Answer & { readonly next: string | undefined }, ReadError>
  readonly get: (id: string) => Effect.Effect<unknown, ReadError>
}

const clientOf = (space: Space, { records }: Face): AnyClient => (space as unknown as Readonly<Record<string, AnyClient>>)[records.segment]!

/** The path of a face's list, and that of one record, relative to the server. */
export const pathsOf = ({ records: { id, segment } }: Face): readonly [list: string, record: string] =>
  [`/v1/spaces/:space/${segment}`, `/v1/spaces/:space/${segment}/:${id}`]

/** Whether a switch of a query is set: it is there, and not as `false`. */
const isSet = (value: string | undefined): boolean => value !== undefined && value !== "false"

const switchesOf = (names: Readonly<Record<string, string>> = {}, query: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, isSet(query[name])]))

/** A worker, with the token of a record. */
export interface Worker {
  readonly space: string
  readonly id: string
  readonly token: string
}

/** The functions that the routes of a face use. */
export interface FaceContext extends RouteContext {
  /** Refuses a worker before its space is opened, since anyone may claim to be one. */
  readonly proves?: (worker: Worker) => Promise<void>
}

/** The body of a verb, checked before its space is looked for. */
const bodyOf = async ({ body, switches }: Verb, { records }: Face, c: Context): Promise<unknown> => {
  if (body === undefined) return switchesOf(switches, c.req.query())
  const given = await Body.json(c.req.raw)
  try {
    Codec.decode(body, given)
    return given
  } catch (error) {
    if (!(error instanceof Codec.Misfit)) throw error
    if (error.isMissing) throw records.invalid?.(`it ${error.reason}`) ?? error
    throw new RequestRefused({ code: "body/malformed", reason: `The body does not say what to do: it ${error.reason}` })
  }
}

/** A segment of a path. An id of a ledger has colons, which a path may have as they are. */
const segmentOf = (id: string): string => encodeURIComponent(id).replaceAll("%3A", ":")

/**
 * Adds the routes of a face to an application.
 *
 * @category combinators
 * @since 0.2.0
 */
export const routes = (app: Hono, face: Face, { find, proves, stream, wantsStream }: FaceContext): void => {
  const { records, verbs } = face
  const [list, record] = pathsOf(face)
  const found = async (c: Context) => clientOf(await find(c.req.param("space") ?? ""), face)
  const idOf = (c: Context): string => c.req.param(records.id) ?? ""
  app.get(list, async (c) => {
    const query = c.req.query()
    const page = { after: query["after"], limit: PageQuery.limit(query["limit"]), ...switchesOf(records.switches, query) }
    const { [records.rows]: rows, next } = await Effect.runPromise((await found(c)).list(page), { signal: c.req.raw.signal })
    return Json.uncached({
      [records.rows]: (rows as ReadonlyArray<unknown>).map((row) => Codec.encode(records.row, row)),
      next: next ?? null
    })
  })
  app.get(record, async (c) => {
    const id = idOf(c)
    const space = await find(c.req.param("space") ?? "")
    const row = await Effect.runPromise(clientOf(space, face).get(id), { signal: c.req.raw.signal })
    if (row === undefined) throw records.absent(id)
    return wantsStream(c.req.raw)
      ? stream(Cells.follow(space, records.cell(id, row), Sse.lastOf(c.req.raw)))
      : Json.uncached(Codec.encode(records.record, row))
  })
  for (const [name, verb] of Object.entries(verbs)) {
    if (verb.on === "record") app.post(`${record}/${name}`, async (c) => {
      const body = await bodyOf(verb, face, c)
      const token = verb.worker === undefined ? undefined : WorkerToken.of(c.req.raw.headers)
      if (token !== undefined) await proves?.({ space: c.req.param("space") ?? "", id: idOf(c), token })
      const given = token === undefined ? body : { ...body as object, token }
      return Json.uncached(await Effect.runPromise((await found(c))[name]!(idOf(c), given)))
    })
    else app.post(list, async (c) => {
      const body = await bodyOf(verb, face, c)
      const answer = await Effect.runPromise((await found(c))[name]!(body))
      const location = `/v1/spaces/${c.req.param("space")}/${records.segment}/${segmentOf(String(answer[records.id]))}`
      const headers: Readonly<Record<string, string>> = verb.isSecret === true ? { location, "cache-control": "no-store" } : { location }
      return Json.answer(answer, { status: 201, headers })
    })
  }
}
