/**
 * Commands of `systole` inside the process of the tests, where no process is tested. A process costs half a second of
 * the CPU, and most of it loads code.
 *
 * @module
 */
import { ConfigProvider, Console, Effect } from "effect"
import { setImmediate } from "node:timers"
import * as UnexpectedFailure from "../../src/diagnostic/UnexpectedFailure.ts"
import * as Main from "../../src/main/Main.ts"
import { program } from "../../src/main/SourceProgram.ts"

/** The output and the exit code of a command. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The commands that serve, or find files by the folder of their process, and so run in one of their own. */
const OWN = new Set(["dev", "start", "agent"])

/** Whether a command line can run inside. */
export const canRun = ([command = ""]: ReadonlyArray<string>): boolean => !OWN.has(command)

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
  const exit = await Effect.runPromiseExit(Main.execute(platform, program(root, args), { root, reporter }).pipe(
    Effect.provideService(Console.Console, terminal),
    // The default one keeps the variables of its first use.
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv())
  ))
  const code = Main.exitCode(exit, (failure) => reporter.report(UnexpectedFailure.of(failure)))
  return { code, ...printed }
}
