/**
 * The HTTP routes that all ledgers share: the list of records, one record and its stream, and commands on a record.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Hono } from "hono"
import type { PageRequest } from "../kernel/view/CellList.ts"
import type { ControlError, ReadError } from "../kernel/view/Expected.ts"
import type { Space } from "../kernel/view/Space.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import * as Sse from "./Sse.ts"

/** The functions that the routes of the ledgers share. */
export interface RouteContext {
  /** Finds a space by name. */
  readonly find: (space: string) => Promise<Space>
  /** Creates a response from a stream of events. */
  readonly stream: (frames: Stream.Stream<Sse.Frame, unknown>) => Response
  /** Whether a request asks for a stream. */
  readonly wantsStream: (request: Request) => boolean
}

/** The parameters of a request. */
export type Query = Readonly<Record<string, string>>

/** The records of one ledger over HTTP. */
export interface Records<Row> {
  /** The path segment of the list below its space, such as `ops`. */
  readonly segment: string
  /** The name of a record's id, as path parameter and as field of an answer, such as `oid`. */
  readonly id: string
  /** A page of the list, as the fields of the answer. `next` is the cursor of the next page. */
  list(space: Space, page: PageRequest, query: Query): Effect.Effect<{ readonly next: string | undefined }, ReadError>
  get(space: Space, id: string): Effect.Effect<Row | undefined, ReadError>
  /** The failure for an id without a record. */
  absent(id: string): Error
  /** The cell that a stream of the record follows. */
  cell(id: string, row: Row): string
  /** A record as JSON. */
  json(row: Row): unknown
}

/** The path of a list, relative to the server. */
export const listPath = <Row>({ segment }: Records<Row>): string => `/v1/spaces/:space/${segment}`

/** The path of a record, relative to the server. */
export const recordPath = <Row>(records: Records<Row>): string => `${listPath(records)}/:${records.id}`

/**
 * Adds the two routes that read the records: their list and one record, which an event stream follows.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reads = <Row>(app: Hono, records: Records<Row>, { find, stream, wantsStream }: RouteContext): void => {
  app.get(listPath(records), async (c) => {
    const query = c.req.query()
    const { after, limit } = query
    const space = await find(c.req.param("space") ?? "")
    const page = await Effect.runPromise(records.list(space, { after, limit: PageQuery.limit(limit) }, query), { signal: c.req.raw.signal })
    return Json.uncached({ ...page, next: page.next ?? null })
  })
  app.get(recordPath(records), async (c) => {
    const id = c.req.param(records.id) ?? ""
    const space = await find(c.req.param("space") ?? "")
    const row = await Effect.runPromise(records.get(space, id), { signal: c.req.raw.signal })
    if (row === undefined) throw records.absent(id)
    return wantsStream(c.req.raw)
      ? stream(Cells.follow(space, records.cell(id, row), Sse.lastOf(c.req.raw)))
      : Json.uncached(records.json(row))
  })
}

/** A command on one record: `POST …/:id/<verb>`. */
export interface RecordCommand<Fields> {
  readonly verb: string
  /** The fields of the body. Without them, the command has no body, and its fields are the parameters of the query. */
  readonly fields?: Body.Fields
  /** Executes the command with its fields; answers the beat that applied it. */
  execute(space: Space, id: string, fields: Fields): Effect.Effect<number, ControlError>
}

/**
 * Adds the route of a command. The body is checked before the space is found. The answer has the id and the beat.
 *
 * @category combinators
 * @since 0.1.0
 */
export const command = <Row, Fields = unknown>(
  app: Hono,
  { find, records }: { readonly find: RouteContext["find"]; readonly records: Records<Row> },
  { execute, fields, verb }: RecordCommand<Fields>
): void => {
  app.post(`${recordPath(records)}/${verb}`, async (c) => {
    const body = fields === undefined ? c.req.query() : await Body.fields(c.req.raw, fields)
    const id = c.req.param(records.id) ?? ""
    const space = await find(c.req.param("space") ?? "")
    return Json.uncached({ [records.id]: id, beat: await Effect.runPromise(execute(space, id, body as Fields)) })
  })
}
