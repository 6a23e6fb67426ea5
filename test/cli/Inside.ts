/**
 * Commands of `systole` inside the process of the tests, where no process is tested. A process costs half a second of
 * the CPU or more, and most of it loads code.
 *
 * @module
 */
import { ConfigProvider, Console, Effect } from "effect"
import { resolve } from "node:path"
import process from "node:process"
import { setImmediate } from "node:timers"
import * as UnexpectedFailure from "../../src/diagnostic/UnexpectedFailure.ts"
import * as Main from "../../src/main/Main.ts"
import { program } from "../../src/main/SourceProgram.ts"
import "../support/Bundler.ts"

/** The output and the exit code of a command. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Whether a command line can run inside: no server does. */
export const canRun = ([command = "", verb = ""]: ReadonlyArray<string>): boolean =>
  command !== "dev" && command !== "start" && !(command === "agent" && verb === "run")

/** The flag for the control file of an agent, and its default. */
const FLAG = "--heartbeat"
const FILE = "heartbeat.md"

/** A command line with the whole path of the control file, since an agent finds it by the folder of the process. */
const whole = (root: string, args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.map((arg, i) => args[i - 1] === FLAG ? resolve(root, arg) : arg)

/** The variables of a process in a folder: its default for the control file is a whole path, too. */
const variables = (root: string): ConfigProvider.ConfigProvider => {
  const own = Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]))
  return ConfigProvider.fromEnv({ env: { HEARTBEAT_FILE: resolve(root, FILE), ...own } })
}

const platform: Main.Platform = {
  turn: (run) => void setImmediate(run),
  serve: () => Promise.reject(new Error("no server runs inside the process of the tests"))
}

/** Runs a command in a folder to its end. */
export const run = async (root: string, args: ReadonlyArray<string>): Promise<Ended> => {
  const printed = { stdout: "", stderr: "" }
  const print = (stream: keyof typeof printed) => (...parts: ReadonlyArray<unknown>) => void (printed[stream] += `${parts.join(" ")}\n`)
  const terminal: Console.Console = Object.assign(Object.create(console) as Console.Console, {
    log: print("stdout"),
    error: print("stderr")
  })
  const reporter = Main.reporterTo(print("stderr"))
  const exit = await Effect.runPromiseExit(Main.execute(platform, program(root, whole(root, args)), { root, reporter }).pipe(
    Effect.provideService(Console.Console, terminal),
    // The default one keeps the variables of its first use.
    Effect.provideService(ConfigProvider.ConfigProvider, variables(root))
  ))
  const code = Main.exitCode(exit, (failure) => reporter.report(UnexpectedFailure.of(failure)))
  return { code, ...printed }
}
