/**
 * The routes of ledgers, made from their faces: the list of records, one record and its stream, and verbs.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../../cell/Redacted.ts"
import type { Face, PageRequest } from "../../contract/Face.ts"
import * as FaceEndpoints from "../../contract/FaceEndpoints.ts"
import type { ControlError, ReadError } from "../../kernel/view/Expected.ts"
import type { Space } from "../../kernel/view/Space.ts"
import * as Cells from "./Cells.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"
import * as Sse from "../wire/Sse.ts"
import * as WorkerToken from "../access/WorkerToken.ts"

type Execute = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, ControlError>

/** The API of a ledger in a space, whichever ledger it is. */
type AnyClient = Readonly<Record<string, Execute>> & {
  readonly list: (page: PageRequest) => Effect.Effect<unknown, ReadError>
  readonly get: (id: string) => Effect.Effect<unknown, ReadError>
}

const clientOf = (space: Space, { records }: Face): AnyClient => (space as unknown as Readonly<Record<string, AnyClient>>)[records.segment]!

/** A worker, with the token of a record. */
export interface Worker {
  readonly space: string
  readonly id: string
  readonly token: Redacted.Redacted
}

/** The functions that the routes of a face use. */
export interface FaceContext extends Pick<RouteContext, "stream"> {
  /** Refuses a worker before its space is opened, since anyone may claim to be one. */
  readonly proves?: (worker: Worker) => Effect.Effect<void, unknown>
}

/**
 * Adds the routes of a face to a table.
 */
export const routes = (table: SpaceTable, face: Face, { proves = () => Effect.void, stream }: FaceContext): void => {
  const { records, verbs } = face
  const endpoints = FaceEndpoints.of(face)
  const idOf = (params: Readonly<Record<string, string>>): string => params[records.id] ?? ""
  table.ofSpace(endpoints.list, (space, { query }) => clientOf(space, face).list(query as unknown as PageRequest))
  table.ofSpace(endpoints.record, (space, { params, request }) => Effect.flatMap(clientOf(space, face).get(idOf(params)), (row) => {
    if (row === undefined) return Effect.fail(records.absent(idOf(params)))
    if (!Sse.isWanted(request)) return Effect.succeed(row)
    return Effect.succeed(stream(Cells.follow(space, records.cell(idOf(params), row), Sse.lastOf(request))))
  }))
  for (const [name, endpoint] of Object.entries(endpoints.verbs)) {
    const { body, on, worker } = verbs[name]!
    table.serve(endpoint, ({ body: fields, params, query, request }) => {
      const given = body === undefined ? query : fields
      const { space = "" } = params
      const execute = (...args: ReadonlyArray<unknown>) =>
        Effect.flatMap(table.space(space), (space) => clientOf(space, face)[name]!(...args))
      if (on === "list") return execute(given)
      const id = idOf(params)
      const token = worker === undefined ? undefined : WorkerToken.of(request.headers)
      if (token === undefined) return execute(id, given)
      return Effect.andThen(proves({ space, id, token }), execute(id, Object.assign(given as object, { token: Redacted.value(token) })))
    })
  }
}
