/**
 * Requests of the commands of the agent.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as CellFile from "../agent/cells/CellFile.ts"
import { Disk } from "../agent/store/Disk.ts"
import * as FileStore from "../agent/store/FileStore.ts"
import * as StoredFile from "../agent/store/StoredFile.ts"
import type * as Wake from "../agent/wake/Wake.ts"
import * as AgentCell from "./AgentCell.ts"
import * as AgentLedger from "./AgentLedger.ts"
import * as AgentSettings from "./AgentSettings.ts"
import { CliFailure, exits, from } from "./CliFailure.ts"

/**
 * The request for a wake by the flags of a command, the store of its file, and the space of the ledger. A command that only reads
 * creates no space.
 */
export const make = Effect.fn("AgentRequest.make")(function*(flags: AgentSettings.Flags, isReading: boolean = false) {
  const { file, settings, space } = yield* AgentSettings.resolve(flags)
  const { process: { host, pid } } = yield* Disk
  const startup = `${host}.${pid}.${yield* Clock.currentTimeMillis}`
  const place = yield* StoredFile.place(file)
  const request: Wake.Request = { settings, startup }
  return { place, request, space, store: yield* FileStore.make(place), ledger: AgentLedger.layer(space, !isReading), cell: undefined }
})

const ofCell = Effect.fnUntraced(function*(cell: string, { heartbeat, profile, ...flags }: AgentSettings.Flags) {
  if (Option.isSome(heartbeat) || Option.isSome(profile)) {
    return yield* new CliFailure({
      exit: exits.usage,
      code: "agent/cell",
      message: `--cell ${cell} names a file in a cell. Its settings are in the cell ${CellFile.SETTINGS}. ` +
        "Leave out --heartbeat and --profile"
    })
  }
  const space = Option.getOrElse(flags.space, () => "agent")
  const { misfit, place, settings, store } = yield* AgentCell.read(cell, space)
  const request: Wake.Request = { settings, startup: CellFile.STARTUP }
  return { place, request, space, store, ledger: AgentLedger.layer(space, false), cell: { name: place.cell, misfit } }
})

/**
 * As {@link make}, and with `--cell` for a file in a cell. A command only reads such a file.
 */
export const open = (flags: AgentSettings.CellFlags, isReading: boolean = true) => Effect.gen(function*() {
  return Option.isSome(flags.cell) ? yield* ofCell(flags.cell.value, flags) : yield* make(flags, isReading)
})

/** The failure of a command that names no action of the file. */
export const absent = (id: string): CliFailure =>
  new CliFailure({
    exit: exits.absent, code: "agent/action-absent", message: `No action has the id ${id}; systole agent status lists them`
  })

/** Runs a command within a scope. Failures with a stable code become failures of the command line. */
export const failing = <A, E extends { readonly code: string; readonly message: string } | CliFailure, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, CliFailure, Exclude<R, Scope.Scope>> =>
  Effect.mapError(Effect.scoped(effect), (error) => error instanceof CliFailure ? error : from(error))
