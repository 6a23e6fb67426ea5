/**
 * HTTP routes for durable runs: the list, one run and its stream, cancel, and retry.
 *
 * @module
 */
import type { Hono } from "hono"
import { RunAbsent } from "../durable/RunError.ts"
import type { RunDetails } from "../kernel/view/Space.ts"
import * as RecordRoutes from "./RecordRoutes.ts"

const isSet = (flag: string | undefined): boolean => flag !== undefined && flag !== "false"

const runs: RecordRoutes.Records<RunDetails> = {
  segment: "runs",
  id: "oid",
  list: (space, page, { all }) => space.runs.list({ ...page, all: isSet(all) }),
  get: (space, oid) => space.runs.get(oid),
  absent: (oid) => new RunAbsent({ oid }),
  cell: (oid) => `/rt/ops/${oid}`,
  json: (row) => row
}

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: RecordRoutes.RouteContext): void => {
  const { find } = context
  RecordRoutes.reads(app, runs, context)
  RecordRoutes.command<RunDetails, RecordRoutes.Query>(app, { find, records: runs }, {
    verb: "cancel",
    execute: (space, oid, { now }) => space.runs.cancel(oid, { now: isSet(now) })
  })
  RecordRoutes.command<RunDetails, RecordRoutes.Query>(app, { find, records: runs }, {
    verb: "retry",
    execute: (space, oid, { anew }) => space.runs.retry(oid, { anew: isSet(anew) })
  })
}
