/**
 * `systole agent again`: another run of an action that ended.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as ControlFiles from "../agent/document/ControlFile.ts"
import { ControlStore } from "../agent/store/ControlStore.ts"
import * as Edits from "../agent/document/Edit.ts"
import { Ledger } from "../agent/order/Ledger.ts"
import { OpenFile } from "../agent/store/OpenFile.ts"
import * as Projection from "../agent/wake/Projection.ts"
import * as Record from "../agent/order/Record.ts"
import * as Schedules from "../agent/schedule/Schedule.ts"
import * as AgentRequest from "./AgentRequest.ts"
import * as AgentSettings from "./AgentSettings.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import * as Output from "./Output.ts"

/** The reason for which an action gets no further run by this command; `undefined` for none. */
const refusalOf = (id: string, record: Record.Record | undefined, isRecurring: boolean): CliFailure | undefined => {
  const refuse = (code: string, message: string) => new CliFailure({ exit: exits.failed, code, message })
  if (isRecurring) return refuse("agent/action-recurs", `${id} recurs, so it runs again by its schedule; systole agent explain tells when`)
  if (record === undefined) return refuse("agent/action-new", `${id} has not run yet, so it needs no other run`)
  return record.finishedAt === undefined ? refuse("agent/action-running", `${id} is running; repeat the command at its end`) : undefined
}

/**
 * The command `again`. It saves the file as a person does, so it needs no lease: the status is pending, and the stamp of the
 * latest run stays, by which the next wake knows that this is no older copy.
 */
export const again = Command.make("again", {
  id: Argument.String("id").pipe(Argument.withDescription("The id of an action that ended")),
  ...AgentSettings.flags,
  json: Output.json
}, ({ id, json, ...flags }) =>
  AgentRequest.failing(Effect.gen(function*() {
    const { ledger, place, request: { settings }, store } = yield* AgentRequest.make(flags)
    const { byId, bytes, file } = yield* OpenFile.open({ ...settings.defaults, types: undefined }, true).pipe(
      Effect.provideService(ControlStore, store)
    )
    const action = byId.get(id)
    if (action === undefined) return yield* AgentRequest.absent(id)
    const found = Record.read(yield* Effect.provide(Ledger.use(({ get }) => get(Record.cell(place.key, id))), ledger))
    const refusal = refusalOf(id, found, Schedules.isRecurring(action.schedule))
    if (refusal !== undefined) return yield* refusal
    const end = found === undefined ? undefined : Record.endOf(found)
    const text = Edits.update(file, [
      { kind: "field", id, key: "status", value: "pending" },
      { kind: "field", id, key: found?.status === "completed" ? "completed_at" : "failed_at", value: Projection.moment(end ?? 0) }
    ])
    if (text !== file.text && (yield* store.replace(bytes, ControlFiles.encode(text)))._tag === "Changed") {
      const message = `${place.path} was saved meanwhile, and stays as it is; repeat the command`
      return yield* new CliFailure({ exit: exits.failed, code: "file/changed", message })
    }
    yield* Output.data(json, { id, status: "pending" }, `${id} runs in the next wake`)
  }))).pipe(Command.withDescription("Let an action that ended run once more"))
