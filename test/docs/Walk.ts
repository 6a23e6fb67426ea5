/**
 * Follows a section of a page as a reader would: its files in a project, its commands in a terminal.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { createInterface } from "node:readline"
import type { Server } from "../cli/Terminal.ts"
import { terminal } from "../cli/Terminal.ts"
import { node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Console from "./Console.ts"
import * as Pages from "./Pages.ts"

/** The address that the pages name. */
const SHOWN = "http://127.0.0.1:4200"

/** How a command ended. */
interface Ended {
  readonly code: number | null | undefined
  readonly output: string
}

type Terminal = Effect.Success<ReturnType<typeof terminal>>

/** Where commands run: a terminal in a project, and the address of the project's server. */
interface Place {
  readonly terminal: Terminal
  readonly url: string
}

/** Copies an example into a project, whose enzymes of the runtime are then those that an installation has. */
const copy = (terminal: Terminal, folder: string): void => {
  const ours = (path: string): boolean => !/node_modules|\.data|\.systole/.test(relative(folder, path))
  cpSync(folder, terminal.root, { recursive: true, filter: ours })
  const config = join(folder, "systole.config.ts")
  if (!existsSync(config)) return
  terminal.write("systole.config.ts", readFileSync(config, "utf8").replace("../../enzymes", "node_modules/systole/dist/enzymes"))
}

/** Gives a project the packages that an installation would. */
const install = ({ root: project }: Terminal): void => {
  cpSync(join(root, "enzymes"), join(project, "node_modules/systole/dist/enzymes"), { recursive: true })
  for (const name of ["effect", "hono"]) symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name), "dir")
}

/** A program of the project, which finds the package as an installed one does. */
const program = async ({ root: project }: Terminal, [file = "", ...args]: ReadonlyArray<string>): Promise<Ended> =>
  run([node(), "--import", join(root, "test/scripts/source.mjs"), join(project, file), ...args], { cwd: project })

/** A program of the project in the background, as `node FILE &` starts it: its process, and the first line that it prints. */
const background = async ({ root: project }: Terminal, line: string): Promise<readonly [child: ChildProcess, output: string]> => {
  const [, file = ""] = Console.words(line)
  const child = spawn(node(), [join(project, file)], { stdio: ["ignore", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })
  const output = await new Promise<string>((resolve) => void lines.once("line", resolve).once("close", () => resolve("")))
  return [child, output]
}

/** A program of the project in Python. */
const python = (terminal: Terminal, [, file = "", ...args]: ReadonlyArray<string>): Promise<Ended> =>
  run(["python3", join(terminal.root, file), ...args])

const systole = async (terminal: Terminal, args: ReadonlyArray<string>): Promise<Ended> => {
  const { code, stderr, stdout } = await terminal.run(...args)
  return { code, output: stdout === "" ? stderr : stdout }
}

const curl = async (words: ReadonlyArray<string>): Promise<Ended> => {
  const response = await fetch(Console.request(words))
  return { code: 0, output: await response.text() }
}

/** Removes a folder of the project. */
const remove = ({ root: project }: Terminal, [, , folder = ""]: ReadonlyArray<string>): Ended => {
  const path = resolve(project, folder)
  assert.isFalse(relative(project, path).startsWith("..") || path === project, `${folder} is not in the project`)
  rmSync(path, { recursive: true })
  return { code: 0, output: "" }
}

/** Runs a command to its end. */
const execute = async (terminal: Terminal, line: string): Promise<Ended> => {
  const words = Console.words(line)
  const [tool, name] = words
  if (tool === "curl") return curl(words)
  if (tool === "node" && name !== undefined) return program(terminal, words.slice(1))
  if (tool === "python3") return python(terminal, words)
  if (tool === "rm" && name === "-rf") return remove(terminal, words)
  assert.deepStrictEqual([tool, name], ["npx", "systole"], `no test knows how to run ${line}`)
  return systole(terminal, words.slice(2))
}

/** Commands that change nothing: where an effect takes its time, they are asked again. */
const reads = /^npx systole (?:backups ls|cell (?:get|watch)|flow (?:show|watch)|rv ls|op show|dead ls|run (?:ls|show)|space state) /

/** How long a reading command is asked, in milliseconds, and the pause in between. */
const [PATIENCE, PAUSE] = [60_000, 50]

/** The values that the output of a command gives; fails where it is not the expected one. */
const expect = async ({ terminal, url }: Place, { exit, line, output }: Console.Command): Promise<Console.Values> => {
  const until = performance.now() + (reads.test(line) ? PATIENCE : 0)
  const ask = () => execute(terminal, line.replaceAll(SHOWN, url))
  const match = ({ code, output: printed }: Ended) =>
    code === exit ? Console.match(output === "" ? "…" : output, printed.replaceAll(url, SHOWN)) : undefined
  let ended = await ask()
  while (match(ended) === undefined && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
    ended = await ask()
  }
  const found = match(ended)
  if (found !== undefined) return found
  assert.deepStrictEqual([ended.code, ended.output], [exit, output], line)
  return {}
}

/** The processes of a section: the server, and programs in the background. */
interface Processes {
  server: Server | undefined
  readonly children: Array<ChildProcess>
}

/** Executes a command with its values filled in, and returns the values that its output gives. */
const follow = async (terminal: Terminal, processes: Processes, command: Console.Command): Promise<Console.Values> => {
  const { line, output } = command
  if (/^npx systole (?:dev|start)\b/.test(line)) {
    await processes.server?.stop("SIGTERM")
    processes.server = await terminal.serve(...Console.words(line).slice(2))
    return { pid: String(processes.server.pid) }
  }
  if (processes.server !== undefined && line === `kill -9 ${processes.server.pid}`) {
    await processes.server.stop("SIGKILL")
    processes.server = undefined
    return {}
  }
  if (!line.endsWith(" &")) return expect({ terminal, url: processes.server?.url ?? SHOWN }, command)
  const [child, first] = await background(terminal, line)
  processes.children.push(child)
  return Console.match(output, first) ?? assert.fail(`${line} printed ${first}`)
}

/** Writes the files of a section that name values, such as a key that a command printed, once their values are known. */
const complete = (terminal: Terminal, blocks: ReadonlyArray<Pages.Block>, values: Console.Values): void => {
  for (const { name, text } of blocks) {
    const whole = Console.filled(text, values)
    if (name !== "" && whole !== text) terminal.write(name, whole)
  }
}

/** Follows a section, in a copy of an example where there is one: every file is written, every command run, every output compared. */
export const walk = (section: string, example?: string): Effect.Effect<void, never, Effect.Services<ReturnType<typeof terminal>>> =>
  Effect.flatMap(terminal(), (terminal) =>
    Effect.promise(async () => {
      const blocks = Pages.blocksOf(section)
      if (example !== undefined) copy(terminal, example)
      for (const { name, text } of blocks) if (name !== "") terminal.write(name, text)
      install(terminal)
      const commands = blocks.flatMap(({ language, text }) => language === "console" ? Console.parse(text) : [])
      const processes: Processes = { server: undefined, children: [] }
      let values: Console.Values = {}
      try {
        for (const command of commands) {
          const found = await follow(terminal, processes, Console.fill(command, values))
          values = { ...values, ...found }
          if (Object.keys(found).length > 0) complete(terminal, blocks, values)
        }
        await processes.server?.stop("SIGTERM")
      } finally {
        for (const child of processes.children) child.kill("SIGKILL")
      }
    }))
