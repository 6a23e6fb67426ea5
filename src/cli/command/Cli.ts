/**
 * The command line of the runtime.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as CodePlace from "../../diagnostic/CodePlace.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import { face as operations } from "../../operation/Face.ts"
import * as ArchiveCommand from "./ArchiveCommand.ts"
import * as BackupCommand from "./BackupCommand.ts"
import * as BeatCommand from "./BeatCommand.ts"
import * as BuildCommand from "./BuildCommand.ts"
import * as CellCommand from "./CellCommand.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { foreign } from "../Client.ts"
import * as ControlCommand from "./ControlCommand.ts"
import * as DataFolder from "../DataFolder.ts"
import * as DeadCommand from "./DeadCommand.ts"
import * as EnzymeCommand from "./EnzymeCommand.ts"
import * as FaceCommands from "./FaceCommands.ts"
import * as DebugCommand from "./DebugCommand.ts"
import * as GraphCommand from "./GraphCommand.ts"
import * as HistoryCommand from "./HistoryCommand.ts"
import * as ImportCommand from "./ImportCommand.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as LoginCommand from "./LoginCommand.ts"
import * as NewCommand from "./NewCommand.ts"
import * as Output from "../Output.ts"
import type { PluginCommand } from "../PluginCommand.ts"
import * as RemoteServer from "../RemoteServer.ts"
import * as ServeCommand from "./ServeCommand.ts"
import * as SignalCommand from "./SignalCommand.ts"
import * as SpaceCommand from "./SpaceCommand.ts"
import * as UpgradeCommand from "./UpgradeCommand.ts"
import * as TokenCommand from "./TokenCommand.ts"

const description = `Run enzymes on a durable heartbeat.

Commands act on the project in the current folder: through its server while that runs, else by opening its data themselves. \
With --server they act on a server elsewhere, such as a deployed Worker.
Data goes to standard output, everything else to standard error.

Exit codes: 0 done; 1 failed or refused; 2 the command line or the project is not right; 3 there is no such thing; \
4 the server or the store cannot be reached, is locked or busy; 5 accepted, and not handled in the time that was waited; \
6 a beat cannot be run again, because its code or its journal is gone; \
7 the journal was changed, or a beat does not come out the same.`

/** The commands of a project itself. */
const first = [ServeCommand.dev, ServeCommand.start, NewCommand.command]

/** The commands of its data, with those of its ledgers. */
const others = (slices: Commands["slices"]) => [
  BuildCommand.command,
  SpaceCommand.command,
  ...UpgradeCommand.commands,
  TokenCommand.command,
  LoginCommand.command,
  KeyCommand.command,
  SignalCommand.command,
  CellCommand.command,
  BeatCommand.command,
  EnzymeCommand.command,
  DeadCommand.command,
  FaceCommands.make(operations),
  ...slices.flatMap(({ face }) => face === undefined ? [] : [FaceCommands.make(face)]),
  ...ControlCommand.commands,
  GraphCommand.command,
  DebugCommand.command,
  HistoryCommand.journal,
  HistoryCommand.replay,
  HistoryCommand.why,
  HistoryCommand.explain,
  ...ArchiveCommand.commands,
  ...ImportCommand.commands,
  ...BackupCommand.commands
]

/** The names of the commands without those of plugins. */
export const names = (slices: Commands["slices"]): ReadonlyArray<string> => [...first, ...others(slices)].map(({ name }) => name)

/** The parts of a program that its commands depend on. */
export interface Commands {
  /** The commands of plugins. */
  readonly plugins: ReadonlyArray<PluginCommand>
  readonly slices: ReadonlyArray<Pick<Slice, "face">>
}

/**
 * The command `systole`, with the commands of its ledgers and of plugins.
 */
export const command = ({ plugins, slices }: Commands) => Command.make("systole").pipe(
  Command.withDescription(description),
  Command.withSubcommands([...first, ...plugins, ...others(slices)]),
  Command.withGlobalFlags([DataFolder.flag, DataFolder.environment, RemoteServer.flag])
)

/** Prints usage errors on standard error. The help text is printed on request only. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Output.note([...event.errors.map((error) => error.message), `See ${event.commandPath.join(" ")} --help`].join("\n"))
      : CliOutput.defaultPresenter.present(event)
}

/** A command line of a program. */
export interface Invocation {
  readonly version: string
  readonly args: ReadonlyArray<string>
  /** The commands of plugins that the arguments may mean. */
  readonly plugins: Effect.Effect<ReadonlyArray<PluginCommand>, CliFailure>
  readonly slices: Commands["slices"]
}

/**
 * Whether a defect comes from the fields of an answer. A server elsewhere may have another version, or be none, so that a command
 * finds no list where one should be.
 */
const isOfAnswer = (args: ReadonlyArray<string>, defect: unknown): boolean => {
  const isRemote = args.some((argument) => argument === "--server" || argument.startsWith("--server="))
  return isRemote && (defect instanceof TypeError || defect instanceof RangeError || defect instanceof SyntaxError)
}

/**
 * Runs the command line and returns the exit code.
 */
export const run = ({ args, plugins, slices, version }: Invocation) =>
  Effect.flatMap(plugins, (plugins) => Command.runWith(command({ plugins, slices }), { version })(args)).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.as(exits.ok),
    Effect.catchDefect((defect) => isOfAnswer(args, defect) ? foreign("with other fields") : Effect.die(defect)),
    Effect.catch((error) => {
      if (!(error instanceof CliFailure)) return Effect.succeed(exits.usage)
      const { code, exit, message, places = [] } = error
      return Effect.as(Output.note([`${message} (${code})`, ...CodePlace.lines(places)].join("\n")), exit)
    })
  )
