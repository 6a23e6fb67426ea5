/**
 * The flags `--data` and `--env`: the data folder of a command, in place of the configured one, and the environment of the
 * configuration.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { Config } from "../loader/Config.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import { Host } from "./Host.ts"
import * as RemoteServer from "./RemoteServer.ts"

/**
 * The global flag `--data`. Every command accepts it, so that each can address the server of one folder.
 */
export const flag = GlobalFlag.Setting("data")({
  flag: Flag.String("data").pipe(
    Flag.withDescription("The folder for the data of all spaces, in place of the configured one"),
    Flag.optional
  )
})

/**
 * The global flag `--env`. Every command accepts it, because the configuration of each environment may have a data folder of its own.
 */
export const environment = GlobalFlag.Setting("env")({
  flag: Flag.String("env").pipe(
    Flag.withDescription("The environment of the configuration: one of its environments"),
    Flag.optional
  )
})

/**
 * Fails with `server/flag` if the command line chooses a data folder or an environment, which a server elsewhere has already.
 */
export const refuseFlags = Effect.gen(function*() {
  const names = [...Option.isSome(yield* flag) ? ["--data"] : [], ...Option.isSome(yield* environment) ? ["--env"] : []]
  if (names.length === 0) return
  return yield* new CliFailure({
    exit: exits.usage,
    code: "server/flag",
    message: `The server of --server has its own data and environment. Leave out ${names.join(" and ")}`
  })
})

/**
 * Whether the data folder of a configuration is there.
 */
export const exists = Effect.fn("DataFolder.exists")(function*(config: Config) {
  const path = yield* Path.Path
  const { root } = yield* Host
  return yield* FileSystem.FileSystem.use((fs) => Effect.orElseSucceed(fs.exists(path.resolve(root, config.data)), () => true))
})

/** The configuration, with all its tokens and secrets if it is to be served. */
const configOf = (isServed: boolean) => Effect.gen(function*() {
  if (Option.isSome(yield* RemoteServer.flag)) {
    return yield* new CliFailure({
      exit: exits.usage,
      code: "server/flag",
      message: "This command acts on the project in the current folder, not on a server elsewhere. Leave out --server"
    })
  }
  const name = Option.getOrUndefined(yield* environment)
  const configured = yield* Host.use((host) => host.config(name, isServed))
  return Option.match(yield* flag, { onNone: () => configured, onSome: (data): Config => ({ ...configured, data }) })
})

/**
 * The configuration of the project in its environment, with the data folder of the command line. It may lack tokens and secrets, which
 * a command that serves nobody does not need. Fails with `server/flag` if the command line has `--server`, too.
 */
export const config = configOf(false)

/**
 * The configuration of a project that is to be served: a token or a secret that is not set is refused.
 */
export const servedConfig = configOf(true)
