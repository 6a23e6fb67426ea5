/**
 * `systole dev` and `systole start`: serve the project in the current folder.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Printable from "../../diagnostic/Printable.ts"
import type { Config } from "../../loader/Config.ts"
import type { LoadedModules } from "../../loader/Loader.ts"
import type { ReloadResult } from "../../loader/ReloadResult.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import * as DataFolder from "../DataFolder.ts"
import { Host } from "../Host.ts"
import * as Output from "../Output.ts"
import * as ReloadOutput from "./ReloadOutput.ts"
import * as ServerFile from "../ServerFile.ts"

const port = Flag.Int("port").pipe(
  Flag.withDescription("The port to listen on, in place of the configured one; 0 takes any that is free"),
  Flag.filter((port) => port >= 0 && port <= 65_535, (port) => `${port} is no port; use 0 to 65535`),
  Flag.optional
)

const disable = Flag.String("disable").pipe(
  Flag.withDescription("An enzyme to disable; signals for it alone are held until a start without this. More than once for several"),
  Flag.atLeast(0)
)

const permission = Flag.Boolean("permission").pipe(
  Flag.withDescription(
    "On Node: let modules read only the project, its packages and data, write only the data, and start no program and no thread"
  ),
  Flag.withDefault(false)
)

const hold = Flag.String("hold").pipe(
  Flag.withDescription("A space that accepts signals but runs no beat by itself until systole space release; more than once for several"),
  Flag.atLeast(0)
)

const flags = {
  port,
  json: Output.json
}

/** The configuration, overridden by the flags of the command line. */
const configured = ({ port }: { readonly port: Option.Option<number> }) =>
  Effect.map(DataFolder.servedConfig, (config): Config => ({ ...config, port: Option.getOrElse(port, () => config.port) }))

/** The loaded enzymes and the broken modules, as JSON. */
const report = ({ broken, enzymes }: LoadedModules) => ({
  enzymes: enzymes.map(({ enzyme, file, hash }) => ({ name: enzyme.name, query: enzyme.query, file, hash })),
  broken: broken.map(({ file, reason }) => ({ file, reason }))
})

/** The numbers of what was loaded. */
const loaded = ({ broken, enzymes, nodes }: LoadedModules): string =>
  [
    Printable.count(enzymes.length, "enzyme"),
    ...nodes.length === 0 ? [] : [Printable.count(nodes.length, "node")],
    Printable.count(broken.length, "broken module")
  ].join(", ")

/** Prints a reload. */
const printReload = (reload: ReloadResult, json: boolean) => {
  const { enzymes, files, found, mended, millis, nodes, removed, restart } = reload
  const told = { files, millis, swapped: { enzymes, nodes, removed }, mended, restart, ...report(found) }
  return Output.data(json, told, ReloadOutput.lines(reload))
}

/** Prints reloads, up to the one after which the process is to end, so that its supervisor starts another one. */
const follow = Effect.fnUntraced(function*(
  reloads: Stream.Stream<ReloadResult>,
  { kernel: { limits }, persistence }: Config,
  json: boolean
) {
  const host = yield* Host
  let count = 0
  // Another process would not have what is in memory.
  const isLast = () => ++count === limits.reloads && persistence.use !== "memory" &&
    host.renew(`systole dev has reloaded ${Printable.count(count, "time")}, and no host unloads the modules that were replaced`)
  yield* Stream.runForEachWhile(reloads, (reload) => Effect.map(printReload(reload, json), () => !isLast()))
})

/** Serves until the process is signalled to stop, or shall be replaced. */
const serve = Effect.fn("ServeCommand.serve")(function*(
  config: Config,
  { isLive, json }: { readonly isLive: boolean; readonly json: boolean }
) {
  const host = yield* Host
  const running = yield* ServerFile.find(config)
  if (Option.isSome(running)) {
    const { pid, url } = running.value
    return yield* new CliFailure({
      exit: exits.unreachable,
      code: "server/running",
      message: `The project is served already at ${url} by process ${pid}. End that process; if it is another program, remove ` +
        `${config.data}/server.json`
    })
  }
  const { backUp, closeStreams, fetch, found, localToken, reloads, resume } = yield* host.open(config, "server")
  for (const name of config.disabled) {
    if (!found.enzymes.some(({ enzyme }) => enzyme.name === name)) {
      yield* Output.note(`no enzyme is called "${name}", so none is disabled by that name`)
    }
  }
  const port = yield* host.listen(fetch, config)
  yield* Effect.addFinalizer(() => Effect.sync(closeStreams))
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`
  yield* ServerFile.leave(config, { url, pid: host.pid, token: localToken })
  const renewed = isLive ? yield* Effect.forkScoped(follow(yield* reloads, config, json), { startImmediately: true }) : undefined
  yield* Output.data(json, { url, pid: host.pid, ...report(found) }, [
    ...Output.table(found.enzymes.map(({ enzyme: { name, query }, file }) => {
      const isDisabled = config.disabled.includes(name)
      return [name, query === "" ? "(every signal)" : query, isDisabled ? `${file} (disabled)` : file]
    })),
    loaded(found),
    `listening at ${url}`
  ])
  yield* resume
  // A project in development is not the one to keep.
  if (!isLive) yield* backUp
  return yield* renewed === undefined ? Effect.never : Fiber.join(renewed)
}, Effect.scoped, Effect.onInterrupt(() => Output.note("stopped")))

/**
 * The command `dev`. A space is created by its first signal, and modules are reloaded when their files change.
 */
export const dev = Command.make("dev", flags, (flags) =>
  Effect.flatMap(configured(flags), (config) => serve(
    { ...config, check: config.check ?? true, kernel: { ...config.kernel, create: config.create ?? "on-demand" } },
    { isLive: true, json: flags.json }
  ))).pipe(Command.withDescription(
    "Serve this project for development: a space is created by its first signal, and a changed module is swapped between beats"
  ))

/**
 * The command `start`. Spaces are created explicitly by the operator.
 */
export const start = Command.make("start", { ...flags, hold, permission, disable }, (flags) =>
  Effect.gen(function*() {
    const config = yield* configured(flags)
    if (flags.permission) yield* Host.use((host) => host.confine(config))
    return yield* serve(
      { ...config, disabled: flags.disable, kernel: { ...config.kernel, held: flags.hold } },
      { isLive: false, json: flags.json }
    )
  })).pipe(Command.withDescription("Serve this project: a space is created with systole space create"))
