/**
 * The routes of the history of a space: verification, replay, `why` and `explain`.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../../contract/Inspection.ts"
import * as Explain from "../../replay/Explain.ts"
import * as Replay from "../../replay/Replay.ts"
import * as Verify from "../../replay/Verify.ts"
import * as Why from "../../replay/Why.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable): void => {
  table.ofSpace(Endpoints.verification, (space) => space.examine((history) => Verify.verify(history)))
  table.ofSpace(Endpoints.replay, (space, { query: { from, last, to = Infinity } }) => {
    const isBefore = from !== undefined && from > to
    if (isBefore) return Effect.fail(invalid(`Beat ${to} is before beat ${from}. Give from the earlier one`))
    const isRange = from !== undefined || to !== Infinity
    if (last === 0 || (last !== undefined && isRange)) {
      return Effect.fail(invalid("The parameter last is a count from 1, in place of from and to"))
    }
    return Effect.flatMap(
      space.examine(async (history) => {
        const newest = history.store.head().beat
        if (last !== undefined) return await Replay.replay(history, Math.max(newest - last, history.store.anchor().beat) + 1, newest)
        // Without a beat nothing was compared, and a caller would take that for an equal history.
        return from !== undefined && from > newest ? newest : await Replay.replay(history, from, to)
      }),
      (found) => typeof found === "object"
        ? Effect.succeed(found)
        : absent("beat/absent", `The journal of space "${space.name}" holds no beat ${from}; its newest is ${found}`)
    )
  })
  table.ofSpace(Endpoints.why, (space, { query: { address } }) =>
    Effect.flatMap(space.examine((history) => Why.why(history, address)), (reason) => reason === undefined
      ? absent("cell/absent", `The journal of space "${space.name}" holds no write of ${address}`)
      : Effect.succeed(reason)))
  table.ofSpace(Endpoints.explain, (space, { query: { beat, enzyme } }) =>
    Effect.flatMap(space.examine((history) => Explain.explain(history, beat, enzyme)), (explained) => explained === undefined
      ? absent("beat/absent", `The journal of space "${space.name}" holds no beat ${beat}`)
      : Effect.succeed(explained)))
}

const invalid = (reason: string): RequestRefused => new RequestRefused({ code: "query/invalid", reason })

const absent = (code: "beat/absent" | "cell/absent", reason: string) => Effect.fail(new RequestRefused({ code, reason }))
