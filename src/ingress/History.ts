/**
 * The history of a space over HTTP: verified, replayed and explained.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { Space } from "../kernel/Space.ts"
import * as Explain from "../replay/Explain.ts"
import * as Replay from "../replay/Replay.ts"
import * as Verify from "../replay/Verify.ts"
import * as Why from "../replay/Why.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import { RequestRefused } from "./Problem.ts"
import * as Wire from "./Wire.ts"

/** Most beats that one request replays. */
export const MAX_REPLAYED = 10_000

/** The space that a request's path names. */
type Find = (space: string) => Promise<Space>

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, find: Find): void => {
  app.get("/v1/spaces/:space/journal/verification", async (c) => {
    const space = await find(c.req.param("space"))
    return answer(await Effect.runPromise(space.examine(Verify.verify)))
  })
  app.get("/v1/spaces/:space/replay", async (c) => {
    const space = await find(c.req.param("space"))
    const head = await Effect.runPromise(space.head)
    const from = count(c.req.query("from") ?? "0")
    const to = Math.min(count(c.req.query("to") ?? String(head)), head)
    if (to - from >= MAX_REPLAYED) {
      throw new RequestRefused({ code: "query/invalid", reason: `${to - from + 1} beats are more than the ${MAX_REPLAYED} that are replayed at a time. Ask for a part` })
    }
    return answer(await Effect.runPromise(space.examine((archive) => Replay.replay(archive, from, to))))
  })
  app.get("/v1/spaces/:space/why", async (c) => {
    const space = await find(c.req.param("space"))
    const address = needed("address", c.req.query("address"))
    const reason = await Effect.runPromise(space.examine((archive) => Why.why(archive, address)))
    if (reason === undefined) throw new RequestRefused({ code: "cell/absent", reason: `The journal of space "${space.name}" holds no write of ${address}` })
    const writers = reason.writers.map((writer) => ({ ...writer, reads: writer.reads.map(({ address, value }) => ({ address, value: Wire.inline(value) })) }))
    return answer({ ...reason, value: Wire.inline(reason.value), before: Wire.inline(reason.before), writers })
  })
  app.get("/v1/spaces/:space/explain", async (c) => {
    const space = await find(c.req.param("space"))
    const beat = count(needed("beat", c.req.query("beat")))
    const enzyme = needed("enzyme", c.req.query("enzyme"))
    const explained = await Effect.runPromise(space.examine((archive) => Explain.explain(archive, beat, enzyme)))
    if (explained === undefined) throw new RequestRefused({ code: "beat/absent", reason: `The journal of space "${space.name}" holds no beat ${beat}` })
    return answer(explained)
  })
}

const { count } = Body

const needed = (name: string, value: string | undefined): string => {
  if (value !== undefined && value !== "") return value
  throw new RequestRefused({ code: "query/invalid", reason: `The query has no ${name}. Give it as ?${name}=…` })
}

const answer = (body: unknown): Response => Json.answer(body, { headers: { "cache-control": "no-store" } })
