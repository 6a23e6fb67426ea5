/**
 * Requests of the commands of the agent.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { CliFailure, Disk, exits, from } from "systole/cli"
import * as CellFile from "../cells/CellFile.ts"
import * as FileStore from "../store/FileStore.ts"
import * as StoredFile from "../store/StoredFile.ts"
import type * as Wake from "../wake/Wake.ts"
import * as ControlCell from "./ControlCell.ts"
import * as HttpSpaceClient from "./HttpSpaceClient.ts"
import * as CommandSettings from "./CommandSettings.ts"

/**
 * The request for a wake by the flags of a command, the store of its file, and the space of the ledger. A command that only reads
 * creates no space.
 */
export const make = Effect.fn("WakeRequest.make")(function*(flags: CommandSettings.Flags, isReading: boolean = false) {
  const { file, settings, space } = yield* CommandSettings.resolve(flags)
  const { process: { host, pid } } = yield* Disk
  const startup = `${host}.${pid}.${yield* Clock.currentTimeMillis}`
  const place = yield* StoredFile.place(file)
  const request: Wake.Request = { settings, startup }
  return { place, request, space, store: yield* FileStore.make(place), ledger: HttpSpaceClient.layer(space, !isReading), cell: undefined }
})

const ofCell = Effect.fnUntraced(function*(cell: string, { heartbeat, profile, ...flags }: CommandSettings.Flags) {
  if (Option.isSome(heartbeat) || Option.isSome(profile)) {
    return yield* new CliFailure({
      exit: exits.usage,
      code: "agent/cell",
      message: `--cell ${cell} names a file in a cell. Its settings are in the cell ${CellFile.SETTINGS}. ` +
        "Leave out --heartbeat and --profile"
    })
  }
  const space = Option.getOrElse(flags.space, () => "agent")
  const { misfit, place, settings, store } = yield* ControlCell.read(cell, space)
  const request: Wake.Request = { settings, startup: CellFile.STARTUP }
  return { place, request, space, store, ledger: HttpSpaceClient.layer(space, false), cell: { name: place.cell, misfit } }
})

/**
 * As {@link make}, and with `--cell` for a file in a cell. A command only reads such a file.
 */
export const open = (flags: CommandSettings.CellFlags, isReading: boolean = true) => Effect.gen(function*() {
  return Option.isSome(flags.cell) ? yield* ofCell(flags.cell.value, flags) : yield* make(flags, isReading)
})

/** The failure of a command that names no action of the file. */
export const absence = (id: string): CliFailure =>
  new CliFailure({
    exit: exits.absent, code: "agent/action-absent", message: `No action has the id ${id}; systole agent status lists them`
  })

/** Runs a command within a scope. Failures with a stable code become failures of the command line. */
export const withFailures = <A, E extends { readonly code: string; readonly message: string } | CliFailure, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, CliFailure, Exclude<R, Scope.Scope>> =>
  Effect.mapError(Effect.scoped(effect), (error) => error instanceof CliFailure ? error : from(error))
