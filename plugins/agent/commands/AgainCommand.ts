/**
 * `systole agent again`: another run of an action that ended.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { Argument, CliFailure, Command, exits, Output } from "systole/cli"
import * as ControlFiles from "../document/ControlFile.ts"
import { ControlStore } from "../store/ControlStore.ts"
import * as Edits from "../document/Edit.ts"
import { SpaceClient } from "../order/SpaceClient.ts"
import { OpenFile } from "../store/OpenFile.ts"
import * as Projection from "../wake/Projection.ts"
import * as Record from "../order/Record.ts"
import * as Schedules from "../schedule/Schedule.ts"
import * as WakeRequest from "./WakeRequest.ts"
import * as CommandSettings from "./CommandSettings.ts"

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
  ...CommandSettings.flags,
  json: Output.json
}, ({ id, json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { ledger, place, request: { settings }, store } = yield* WakeRequest.make(flags)
    const { byId, bytes, file } = yield* OpenFile.open({ ...settings.defaults, types: undefined }, true).pipe(
      Effect.provideService(ControlStore, store)
    )
    const action = byId.get(id)
    if (action === undefined) return yield* WakeRequest.absence(id)
    const found = Record.read(yield* Effect.provide(SpaceClient.use(({ get }) => get(Record.cell(place.key, id))), ledger))
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
