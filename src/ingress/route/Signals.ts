/**
 * The routes of signals: their receipts, the waiting list and dead letters.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../../contract/Signals.ts"
import { DeadAbsent } from "../../kernel/model/SpaceError.ts"
import type { Space } from "../../kernel/view/Space.ts"
import * as Body from "../wire/Body.ts"
import * as Json from "../wire/Json.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"
import * as SignalRequest from "../signal/SignalRequest.ts"
import * as SignalPost from "../signal/SignalPost.ts"
import * as SignalResponse from "../signal/SignalResponse.ts"
import * as Wire from "../wire/Wire.ts"
import * as WrittenSpace from "../access/WrittenSpace.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { kernel }: Pick<RouteContext, "kernel">): void => {
  const queries = Effect.map(kernel.enzymes, (all) => all.map(({ enzyme: { query } }) => query))
  table.serve(Endpoints.post, ({ by: { charge }, params, request, runner, token }) => SignalPost.answer(request, {
    charge,
    open: async (check) => {
      const space = await WrittenSpace.find(kernel, params.space, { check, runner, token })
      return (signal, seconds, hears) => {
        const end = SignalResponse.ended(space.name, signal, { queries, runner, ...hears })
        SignalResponse.post(space, signal, { runner, seconds, end, ...hears })
      }
    },
    report: table.report,
    runner
  }))
  table.ofSpace(Endpoints.receipt, (space, { params: { id }, request }) => Effect.gen(function*() {
    const receipt = yield* space.receipt(id)
    if (receipt === undefined) {
      return yield* Effect.fail(new RequestRefused({
        code: "receipt/absent",
        reason: `Space "${space.name}" has no receipt of "${id.slice(0, 200)}". It is pruned, or no such signal came`
      }))
    }
    const seconds = SignalRequest.waitSeconds(request.headers.get("prefer"))
    const last = seconds !== undefined && receipt.status === "pending" ? yield* settled(space, id, seconds) : undefined
    return Json.answer(Wire.receipt(last ?? receipt), Json.noStore)
  }))
  table.ofSpace(Endpoints.waiting, (space, { query: { after, limit } }) =>
    space.waiting({ after: after === undefined ? undefined : Body.count(after), limit }))
  table.ofSpace(Endpoints.dead, (space, { query }) => space.dead(query))
  table.ofSpace(Endpoints.letter, (space, { params: { enzyme, id } }) =>
    Effect.filterOrFail(
      space.letter(id, enzyme),
      (letter) => letter !== undefined,
      () => new DeadAbsent({ space: space.name, id, enzyme })
    ))
  table.ofSpace(Endpoints.redeliver, (space, { params: { enzyme, id: text } }) =>
    Effect.gen(function*() {
      const { id, own } = (yield* space.letter(text, enzyme)) ?? { id: text }
      const beat = yield* space.redeliver(id, enzyme)
      const receipt = `/v1/spaces/${space.name}/receipts/${encodeURIComponent(id)}`
      return { id, ...own === undefined ? {} : { own }, enzyme, beat, receipt }
    }))
  table.ofSpace(Endpoints.denials, (space) => Effect.map(space.denials, (denials) => ({ denials })))
}

/** The receipt after the last handling; `undefined` on a time-out. */
const settled = (space: Space, id: string, seconds: number) =>
  space.settled(id).pipe(Effect.timeoutOrElse({ duration: seconds * 1000, orElse: () => Effect.undefined }))
