/**
 * HTTP routes for the waiting list of a space, page by page.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import { MAX_ROWS } from "../kernel/view/PageTurns.ts"
import type { Reader, Space } from "../kernel/view/Space.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import { RequestRefused } from "./Problem.ts"

/** The sizes of a page: without `?limit=`, and at most. */
const sizes = { listed: 100, max: MAX_ROWS }

export const PATH = "/v1/spaces/:space/waiting"

/**
 * Adds the operator's route to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, find: (space: string) => Promise<Space>): void => {
  app.get(PATH, async (c) => {
    const after = c.req.query("after")
    const from = after === undefined ? undefined : Body.count(after)
    const limit = PageQuery.limit(c.req.query("limit"), sizes)
    const space = await find(c.req.param("space"))
    const { next, waiting } = await Effect.runPromise(space.waiting({ after: from, limit }), { signal: c.req.raw.signal })
    return answer(waiting, next)
  })
}

/** One page of the waiting list as a reader sees it. */
export const shown = async (
  reader: Reader,
  { after, limit }: { readonly after: string | undefined; readonly limit: string | undefined },
  signal: AbortSignal
): Promise<Response> => {
  if (after !== undefined && !/^[0-9a-f]{16}$/.test(after)) {
    throw new RequestRefused({
      code: "query/invalid",
      reason: `after is ${JSON.stringify(after.slice(0, 200))}. Give it as the answer before gave next`
    })
  }
  const page = await Effect.runPromise(reader.waiting({ after, limit: PageQuery.limit(limit, sizes) }), { signal })
  return answer(page.waiting, page.next)
}

const answer = (waiting: ReadonlyArray<unknown>, next: string | number | undefined): Response =>
  Json.answer({ waiting, next: next ?? null }, Json.noStore)
