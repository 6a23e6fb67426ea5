/**
 * The command line on hosts with files and processes: Node, Deno and Bun.
 *
 * @module
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { inspect } from "node:util"
import * as Cli from "../cli/command/Cli.ts"
import { CliFailure, exits, from } from "../cli/CliFailure.ts"
import { type Build, type BuildRequest, type Fetch, Host } from "../cli/Host.ts"
import * as CodePlace from "../diagnostic/CodePlace.ts"
import * as UnexpectedFailure from "../diagnostic/UnexpectedFailure.ts"
import * as Printable from "../diagnostic/Printable.ts"
import { line, Reporter } from "../diagnostic/Reporter.ts"
import type { Holds } from "../kernel/model/Holds.ts"
import type { Slice } from "../ingress/route/Slice.ts"
import type { Turn } from "../kernel/model/Pacemaker.ts"
import type { Config, InvalidConfig } from "../loader/Config.ts"
import * as NodeKey from "../loader/NodeKey.ts"
import { ModuleBroken, type ModuleHost } from "../loader/ModuleHost.ts"
import * as HostDisk from "./host/HostDisk.ts"
import * as HostHash from "./host/HostHash.ts"
import * as HostPacemaker from "./host/HostPacemaker.ts"
import * as HostAccess from "./host/HostAccess.ts"
import * as KeyPlace from "./host/KeyPlace.ts"
import type { PageModule } from "./module/PageModules.ts"
import * as ParentProcess from "./watchdog/ParentProcess.ts"
import * as PluginCommands from "./composition/PluginCommands.ts"
import * as Project from "./composition/Project.ts"
import type { Configuration } from "./composition/Reloads.ts"
import * as SourceMaps from "./module/SourceMaps.ts"
import * as EndFile from "./watchdog/EndFile.ts"

/** A listening server. */
export interface Server {
  readonly port: number
  /** Stops accepting requests, and resolves when the pending ones are answered. */
  readonly close: () => Promise<void>
  /** Closes every connection immediately. */
  readonly drop: () => void
}

/** The functions that differ between hosts. */
export interface Platform {
  readonly turn: Turn
  /** Prepares the process of a command line. An import alone changes nothing of its process. */
  readonly begin?: () => void
  /** Prepares the process for a server, and returns its turn. */
  readonly serving?: () => Turn
  readonly serve: (fetch: Fetch, address: { readonly host: string; readonly port: number }) => Promise<Server>
}

/** The program of a command line: the project in a folder, from its sources or from a build. */
export interface Program extends Cli.Invocation {
  /** The dependency specifier of this package in a new project. */
  readonly installation: string
  readonly modules: Layer.Layer<ModuleHost>
  /** Bundles the modules of pages. A build contains their texts. */
  readonly pageModule?: PageModule
  /** The modules for a command that only reads: it leaves no file in the project. By default they are the same. */
  readonly passing?: Layer.Layer<ModuleHost>
  /** The slices of the installed runtime or of the build. The configuration may leave some of them out. */
  readonly slices: ReadonlyArray<Slice>
  readonly config: (environment: string | undefined, isServed?: boolean) => Effect.Effect<Config, InvalidConfig | ModuleBroken>
  /** The digest of the configuration's file, to notice its change. A build has none. */
  readonly configuration?: Configuration
  /** Restarts this process without access to files outside the project. */
  readonly confine: (config: Config) => Effect.Effect<void, CliFailure>
  /** Writes a folder that runs without the project. */
  readonly build: (request: BuildRequest) => Effect.Effect<Build, CliFailure>
}

/** The time limit for pending requests after the server is stopped. */
const GRACE = "2 seconds"

/**
 * Runs the command line of this process.
 */
export const run = (platform: Platform, program: Program): void => {
  platform.begin?.()
  const reporter = reporterTo(console.error)
  const report = (failure: unknown): void => reporter.report(UnexpectedFailure.of(failure))
  // An unhandled rejection or a throwing timer of one module must not end the process.
  // A print that fails is not reported, since that is a print, too.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined)
  process.on("unhandledRejection", report)
  process.on("uncaughtException", report)
  ParentProcess.follow()
  // A terminal sends a signal to the supervisor, too, which passes it on: the second one must not end a process that stops.
  if (EndFile.file !== undefined) for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => undefined)
  NodeRuntime.runMain(execute(platform, program, { root: process.cwd(), reporter }), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCode(exit, report))
  })
}

/** The folder of a command line's project, and the reporter of its failures. */
export interface Place {
  readonly root: string
  readonly reporter: Reporter
}

/**
 * Executes a command line in any folder, and returns its exit code. Several may run in one process.
 */
export const execute = (platform: Platform, program: Program, place: Place) =>
  Cli.run(program).pipe(
    Effect.provide(Layer.mergeAll(layer(platform, program, place), HostDisk.layer(isAlive), HostHash.layer).pipe(
      Layer.provideMerge(NodeServices.layer)
    ))
  )

/** The most source lines below a failure. */
const MAX_LINES = 5

/** The places of a failure in the code of the project. */
const placesOf = (thrown: unknown): ReadonlyArray<CodePlace.CodePlace> => {
  if (thrown instanceof ModuleBroken) return thrown.places ?? []
  const place = SourceMaps.place(thrown)
  return place === undefined ? [] : [place]
}

/**
 * A reporter that prints each failure on one line with its place in the project, and below it the source line. With `SYSTOLE_DEBUG`
 * set, the stack follows.
 */
export const reporterTo = (print: (text: string) => void): Reporter =>
  new Reporter((told) => {
    const thrown = told.raised?.thrown ?? told.cause
    const places = placesOf(thrown)
    print([line(told, places[0]?.place), ...CodePlace.lines(places.slice(0, MAX_LINES))].join("\n"))
    if (thrown !== undefined && process.env["SYSTOLE_DEBUG"] !== undefined) {
      print(Printable.lines(SourceMaps.stack(thrown) ?? inspect(thrown)))
    }
  })

/**
 * The exit code of an executed command line. An interruption by a signal is 0; an unexpected failure is reported.
 */
export const exitCode = <E, A>(exit: Exit.Exit<E, A>, report: (failure: unknown) => void): number => {
  if (Exit.isSuccess(exit)) return typeof exit.value === "number" ? exit.value : exits.ok
  if (Cause.hasInterruptsOnly(exit.cause)) return exits.ok
  report(Cause.squash(exit.cause))
  return exits.failed
}

const layer = (
  platform: Platform,
  { build, config, configuration, confine, installation, modules, pageModule, passing = modules, slices }: Program,
  { reporter, root }: Place
): Layer.Layer<Host> => {
  const commands = [...Cli.names(slices), ...PluginCommands.names]
  const given = { ...configuration && { configuration }, ...pageModule && { pageModule } }
  const site = { root, commands, modules, slices, pacemaker: HostPacemaker.layer(platform.turn), reporter, ...given }
  const sites = {
    server: () => ({ ...site, pacemaker: HostPacemaker.layer(platform.serving?.() ?? platform.turn) }),
    all: () => site,
    memory: () => ({ ...site, modules: passing }),
    none: () => ({ ...site, modules: passing, holds: all })
  }
  return Layer.succeed(Host, {
    root,
    installation,
    pid: process.pid,
    isAlive,
    config: (environment, isServed) => Effect.mapError(config(environment, isServed), from),
    draw: HostAccess.draw,
    signer: (config) => Effect.mapError(NodeKey.signer(config.key, KeyPlace.reader(root)), from),
    open: (config, use) =>
      Effect.map(
        Effect.mapError(Effect.suspend(() => Project.open(config, sites[use]())), from),
        ({ app, ...project }) => ({ ...project, fetch: app.fetch })
      ),
    renew: (reason) => {
      EndFile.tell(EndFile.file, reason)
      return EndFile.file !== undefined
    },
    confine,
    build,
    listen: (fetch, config) => listen(platform, fetch, config)
  })
}

/** The holds of a command that only reads: no space beats. */
const all: Holds = { has: () => true, add: () => all, delete: () => false } as Pick<Set<string>, "has"> as Holds

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Serves at the port of the configuration; where that is any, at the one of the process before, if it is still free. */
const served = async ({ serve }: Platform, fetch: Fetch, { host, port }: Config): Promise<Server> => {
  const kept = port === 0 ? EndFile.port() : undefined
  const again = kept === undefined ? undefined : await serve(fetch, { host, port: kept }).catch(() => undefined)
  const server = again ?? await serve(fetch, { host, port })
  EndFile.keepPort(server.port)
  return server
}

const listen = (platform: Platform, fetch: Fetch, config: Config): Effect.Effect<number, CliFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => served(platform, fetch, config),
      catch: (error) =>
        new CliFailure({
          exit: exits.unreachable,
          code: "server/address",
          message: `${config.host}:${config.port} cannot be listened on: ${(error as Error).message}. Choose another port with --port`
        })
    }),
    (server) =>
      Effect.promise(() => server.close()).pipe(
        Effect.timeoutOrElse({ duration: GRACE, orElse: () => Effect.sync(server.drop) })
      )
  ).pipe(Effect.map((server) => server.port))
