/**
 * HTTP routes for the history of a space: verification, replay, `why` and `explain`.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Hono } from "hono"
import * as CellValue from "../contract/CellValue.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { Space } from "../kernel/view/Space.ts"
import * as Explain from "../replay/Explain.ts"
import * as Replay from "../replay/Replay.ts"
import * as Verify from "../replay/Verify.ts"
import * as Why from "../replay/Why.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import * as Problem from "./Problem.ts"
import type { RouteContext } from "./RouteContext.ts"

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, { find }: Pick<RouteContext, "find">): void => {
  app.get("/v1/spaces/:space/journal/verification", async (c) => {
    const space = await find(c.req.param("space"))
    return examine(space, c.req.raw, async (history) => Json.uncached(await Verify.verify(history)))
  })
  app.get("/v1/spaces/:space/replay", async (c) => {
    const { from, to } = c.req.query()
    const [first, last] = [from === undefined ? undefined : count(from), to === undefined ? Infinity : count(to)]
    if (first !== undefined && first > last) {
      throw new Problem.RequestRefused({ code: "query/invalid", reason: `Beat ${last} is before beat ${first}. Give from the earlier one` })
    }
    const space = await find(c.req.param("space"))
    return examine(space, c.req.raw, async (history) => {
      const newest = history.store.head().beat
      // Without a beat nothing was compared, and a caller would take that for an equal history.
      return first !== undefined && first > newest
        ? absent("beat/absent", `The journal of space "${space.name}" holds no beat ${first}; its newest is ${newest}`)
        : Json.uncached(await Replay.replay(history, first, last))
    })
  })
  app.get("/v1/spaces/:space/why", async (c) => {
    const space = await find(c.req.param("space"))
    const address = needed("address", c.req.query("address"))
    return examine(space, c.req.raw, async (history) => {
      const reason = await Why.why(history, address)
      if (reason === undefined) return absent("cell/absent", `The journal of space "${space.name}" holds no write of ${address}`)
      const writers = reason.writers.map(
        (writer) => ({ ...writer, reads: writer.reads.map(({ address, value }) => ({ address, value: CellValue.toJson(value) })) })
      )
      return Json.uncached({ ...reason, value: CellValue.toJson(reason.value), before: CellValue.toJson(reason.before), writers })
    })
  })
  app.get("/v1/spaces/:space/explain", async (c) => {
    const space = await find(c.req.param("space"))
    const beat = count(needed("beat", c.req.query("beat")))
    const enzyme = needed("enzyme", c.req.query("enzyme"))
    return examine(space, c.req.raw, async (history) => {
      const explained = await Explain.explain(history, beat, enzyme)
      return explained === undefined
        ? absent("beat/absent", `The journal of space "${space.name}" holds no beat ${beat}`)
        : Json.uncached(explained)
    })
  })
}

const { count } = Body

/** Runs a query over the history. It is cancelled when the client disconnects. */
const examine = async (space: Space, { signal }: Request, look: (history: HistorySource) => Promise<Response>): Promise<Response> => {
  const exit = await Effect.runPromiseExit(space.examine(look), { signal })
  if (Exit.isSuccess(exit)) return exit.value
  // The client disconnected.
  if (Cause.hasInterruptsOnly(exit.cause)) return new Response(null, { status: 499 })
  throw Cause.squash(exit.cause)
}

const absent = (code: "beat/absent" | "cell/absent", reason: string): Response =>
  Problem.response(new Problem.RequestRefused({ code, reason }))

const needed = (name: string, value: string | undefined): string => {
  if (value !== undefined && value !== "") return value
  throw new Problem.RequestRefused({ code: "query/invalid", reason: `The query has no ${name}. Give it as ?${name}=…` })
}
