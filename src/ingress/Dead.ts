/**
 * HTTP routes for dead letters: the list, one letter, and its redelivery.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import * as CellValue from "../contract/CellValue.ts"
import type { Space } from "../kernel/view/Space.ts"
import { DeadAbsent } from "../kernel/model/SpaceError.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import { RequestRefused } from "./Problem.ts"

/** Finds the space that the path of a request names. */
type Find = (space: string) => Promise<Space>

const LETTER = "/v1/spaces/:space/dead/:id/:enzyme"

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, find: Find): void => {
  app.get("/v1/spaces/:space/dead", async (c) => {
    const limit = c.req.query("limit")
    const after = c.req.query("after")
    if (after !== undefined && !/^[^/]+\/[^/]+(?:\/payload)?$/.test(after)) {
      throw new RequestRefused({
        code: "query/invalid",
        reason: `after is ${JSON.stringify(after.slice(0, 200))}. Give it as the answer before gave next: <id>/<enzyme>`
      })
    }
    const space = await find(c.req.param("space"))
    const page = await Effect.runPromise(space.dead({ after, limit: PageQuery.limit(limit) }), { signal: c.req.raw.signal })
    return Json.uncached({ letters: page.letters, next: page.next ?? null })
  })
  app.get(LETTER, async (c) => {
    const { enzyme, id, space: name } = c.req.param()
    const space = await find(name)
    const letter = await Effect.runPromise(space.letter(id, enzyme))
    if (letter === undefined) throw new DeadAbsent({ space: space.name, id, enzyme })
    return Json.uncached({ ...letter, payload: CellValue.toJson(letter.payload) })
  })
  app.post(`${LETTER}/redelivery`, async (c) => {
    const { enzyme, id, space: name } = c.req.param()
    const space = await find(name)
    const beat = await Effect.runPromise(space.redeliver(id, enzyme))
    const location = `/v1/spaces/${space.name}/receipts/${encodeURIComponent(id)}`
    return Json.answer({ id, enzyme, beat, receipt: location }, { status: 202, headers: { location } })
  })
}
