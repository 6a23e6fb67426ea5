/**
 * The channel `shell`: programs of the host. It is off until its option `allow` names a program.
 *
 * | opcode | payload | value |
 * |---|---|---|
 * | `run` | `{ argv, cwd, env, stdin, millis, maxBytes, expect }`; only `argv` is needed | `{ code, stdout, stderr }`, and `cut` |
 *
 * `argv` is the program and its arguments, which no shell interprets: `; rm -rf` is a plain text. An exit code other than 0 and an
 * end by a signal fail with `shell/exit`, unless `expect` is `"any"`: then they are values, too, where an end by a signal has the
 * code `null` and `signal`. `cut` names the cut outputs. A time-out fails with `shell/timeout`. All failures are permanent but for a
 * full host.
 * `run` is not repeatable, because a program may have acted before it was interrupted.
 *
 * | option | meaning | default |
 * |---|---|---|
 * | `allow` | the programs, each a text or `{ program, args, options }`; `*` in a pattern is any text without `..` | none |
 * | `root` | the folder that `cwd` and programs such as `./scripts/backup.sh` cannot leave, relative to the project | `files` |
 * | `env` | the names of the environment that a program gets; a request may set them | none |
 * | `millis` | the longest time of a program; a request may ask for less | what a request asks for; else 60,000 |
 * | `graceMillis` | the time between SIGTERM and SIGKILL | 2,000 |
 * | `maxBytes` | the kept bytes of each output; a request may ask for fewer | what a request asks for, up to 64 MiB; else 1 MiB |
 * | `processes` | the programs at the same time | 8 |
 *
 * An entry allows the arguments that match its `args` in their order, or `"any"`. An argument that begins with `-` needs a pattern in
 * `options`, or `"any"` there, or a pattern of its own at its place that begins with `-`.
 *
 * A program that begins with `./` is a file below `root`, which no link leads out of. Whoever may write such a file chooses what
 * runs, so keep it apart from the root of a channel `file`.
 *
 * A program and its descendants are one process group, which ends as a whole at an abort and with the program.
 * Outputs are text in UTF-8. If they do not fit into a completion of 64 KiB, the value is `{ code, content: { stdout, stderr }, cut }`
 * with their addresses. No message contains an argument, an output or a value of the environment.
 *
 * @module
 */
import { constants } from "node:fs"
import { access } from "node:fs/promises"
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path"
import process from "node:process"
import { Channel, type ChannelOptions, Plugin } from "systole"
import * as Fields from "./channel/Fields.ts"
import { Jail, path } from "./channel/Jail.ts"
import * as Operations from "./channel/Operations.ts"
import * as AllowList from "./shell/AllowList.ts"
import { type End, type Output, ProcessGroup, type Start } from "./shell/ProcessGroup.ts"

/** The most arguments, and the bytes of each one and of the input. */
const ARGUMENTS = 1024
const ARGUMENT = 65_536
const STDIN = 1_048_576
/** The most names of the environment. */
const NAMES = 256
/** The longest time, in milliseconds: that of a timer. */
const LONGEST = 2 ** 31 - 1
/** The time, in milliseconds, and the kept bytes of each output, for a request that asks for none. */
const MILLIS = 60_000
const BYTES = 1_048_576
/** The most kept bytes of an output. */
const MOST_BYTES = 67_108_864
/** The time that a program has to end after SIGKILL, in milliseconds. */
const END_MILLIS = 10_000

const argument = Fields.guard(`a text of at most ${ARGUMENT} bytes without NUL`, (value): value is string =>
  Fields.text(ARGUMENT).read(value) !== undefined && !(value as string).includes("\0"))

const name = Fields.guard("the name of a variable", (value): value is string =>
  typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(value))

const options = {
  allow: AllowList.field,
  root: Fields.or(Fields.text(4096), "files"),
  env: Fields.or(Fields.list(name, NAMES), [] as ReadonlyArray<string>),
  millis: Fields.optional(Fields.count(1, LONGEST)),
  graceMillis: Fields.or(Fields.count(0, LONGEST), 2000),
  maxBytes: Fields.optional(Fields.count(0, MOST_BYTES)),
  processes: Fields.or(Fields.count(1, 1024), 8)
} satisfies Fields.For<ChannelOptions["shell"]>

const payload = {
  argv: Fields.list(argument, ARGUMENTS),
  cwd: Fields.or(path, ""),
  env: Fields.or(Fields.texts(argument, NAMES), {} as Readonly<Record<string, string>>),
  stdin: Fields.or(
    Fields.guard(`a text or bytes, at most ${STDIN} bytes`, (value): value is string | Uint8Array =>
      value instanceof Uint8Array ? value.length <= STDIN : Fields.text(STDIN).read(value) !== undefined),
    ""
  ),
  millis: Fields.optional(Fields.count(1, LONGEST)),
  maxBytes: Fields.optional(Fields.count(0, MOST_BYTES)),
  expect: Fields.optional(Fields.guard('"any"', (value): value is "any" => value === "any"))
}

/** The settings and the running groups of a channel. */
interface Site extends Omit<Fields.Of<typeof options>, "allow"> {
  readonly allow: ReadonlyArray<AllowList.Entry>
  readonly jail: Jail
  readonly groups: Set<ProcessGroup>
}

const refused = (program: string, reason: string): Channel.ChannelError =>
  Channel.fail("shell/refused", `the program ${JSON.stringify(program.slice(0, 200))} is refused: ${reason}`, { errno: -13 })

/** The environment of a program: the allowed names, as the process or the request sets them. */
const environment = (allowed: ReadonlyArray<string>, given: Readonly<Record<string, string>>): Record<string, string> => {
  const strange = Object.keys(given).find((name) => !allowed.includes(name))
  if (strange !== undefined) {
    const reason = `the variable ${JSON.stringify(strange.slice(0, 100))} is not in the option env`
    throw Channel.fail("shell/refused", reason, { errno: -13 })
  }
  const entries = allowed.map((name) => [name, Object.hasOwn(given, name) ? given[name] : process.env[name]] as const)
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
}

/**
 * The absolute path of a program: itself, a file below the root without a link that leads out, or the first executable of
 * that name in the `PATH` of the process.
 */
const find = async (jail: Jail, program: string): Promise<string> => {
  if (isAbsolute(program)) return program
  if (AllowList.isBelowRoot(program)) {
    const { target } = await jail.locate(program.slice(AllowList.BELOW.length))
    await jail.within(program, dirname(target), (folder) => access(folder.at(basename(target)), constants.F_OK))
    return target
  }
  for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder))) {
    const file = join(folder, program)
    const isExecutable = await access(file, constants.X_OK).then(() => true, () => false)
    if (isExecutable) return file
  }
  throw Channel.fail("io/absent", `no folder of PATH has the program ${JSON.stringify(program.slice(0, 200))}`, { errno: -2 })
}

/** A program, its limit of time, and whether each of its ends is a value. */
interface Judged extends Pick<Fields.Of<typeof payload>, "expect"> {
  readonly program: string
  readonly millis: number
}

/** The failure of a program, if it failed. */
const failureOf = ({ code, isLate, signal }: End, { expect, millis, program }: Judged): Channel.ChannelError | undefined => {
  const shown = JSON.stringify(program.slice(0, 200))
  if (isLate) return Channel.fail("shell/timeout", `the program ${shown} was ended after ${millis} ms, its limit`, { errno: -110 })
  if (code === 0 || expect === "any") return undefined
  return Channel.fail("shell/exit", `the program ${shown} ended ${code === null ? `by the signal ${signal}` : `with exit code ${code}`}`)
}

/** The result of a program. Long outputs become content of the space. */
const resultOf = async ({ code, signal, stderr, stdout }: End, job: Channel.Job): Promise<Channel.JobResult> => {
  const names = Object.entries({ stdout, stderr }).filter(([, { isCut }]) => isCut).map(([name]) => name)
  const bytes = stdout.bytes + stderr.bytes
  const cut = names.length === 0 ? {} : { cut: names }
  const end = { code, ...signal === null ? {} : { signal }, ...cut }
  const inline = { ...end, stdout: stdout.text, stderr: stderr.text }
  if (stdout.text.length + stderr.text.length <= Operations.INLINE && Operations.isInline(inline)) return { value: inline, bytes }
  const keep = async ({ text }: Output): Promise<string> => (await job.keep(new TextEncoder().encode(text), LONGEST)).address
  return { value: { ...end, content: { stdout: await keep(stdout), stderr: await keep(stderr) } }, bytes }
}

const run = async (site: Site, request: Fields.Of<typeof payload>, job: Channel.Job): Promise<Channel.JobResult> => {
  const { signal } = job
  const { allow, jail } = site
  const [program = "", ...args] = request.argv
  const refusal = AllowList.refusal(allow, request.argv)
  if (refusal !== undefined) throw refused(program, refusal)
  const env = environment(site.env, request.env)
  const { target } = await jail.locate(request.cwd)
  const file = await find(jail, program)
  // The folder is open until the program has ended, so no link leads the program elsewhere.
  const millis = least(request.millis, site.millis, MILLIS)
  const maxBytes = least(request.maxBytes, site.maxBytes, BYTES)
  const start = { args, env, program: file, stdin: request.stdin, maxBytes, millis }
  const end = await jail.within(request.cwd, target, ({ way }) => runGroup(site, { ...start, folder: way }, signal))
  signal.throwIfAborted()
  const failure = failureOf(end, { program, millis, expect: request.expect })
  if (failure !== undefined) throw failure
  return resultOf(end, job)
}

/** The amount that a request asks for, at most the limit of the channel; a third one if there is neither. */
const least = (asked: number | undefined, limit: number | undefined, otherwise: number): number =>
  Math.min(asked ?? limit ?? otherwise, limit ?? Infinity)

/** Runs a program to its end, or to an abort. */
const runGroup = async (site: Site, start: Omit<Start, "graceMillis">, signal: AbortSignal): Promise<End> => {
  const { graceMillis, groups } = site
  signal.throwIfAborted()
  let group: ProcessGroup | undefined
  const stop = (): void => group?.stop()
  signal.addEventListener("abort", stop, { once: true })
  try {
    return await ProcessGroup.run({ ...start, graceMillis }, (running) => {
      group = running
      groups.add(running)
    })
  } finally {
    signal.removeEventListener("abort", stop)
    if (group !== undefined) groups.delete(group)
  }
}

export default Plugin.make({
  name: "shell",
  version: "0.1.0",
  provides: {
    channels: {
      shell: (settings) => {
        const refuse = (problem: string) => Fields.refusal("shell", settings, problem)
        if (process.platform === "win32") throw refuse("Windows has no process groups, and a program could outlive its request")
        const { allow, ...limits } = Fields.options("shell", options, settings)
        const jail = new Jail(resolve(settings.root, limits.root), "shell")
        const site: Site = { ...limits, allow: AllowList.read(allow, refuse), jail, groups: new Set() }
        return {
          provider: "shell",
          hosts: ["node", "deno", "bun"],
          target: jail.root,
          jobs: limits.processes,
          // A program ends by its own limits. One that not even SIGKILL ends holds its place, and its request ends all the same.
          timeoutMs: Math.min(LONGEST, (limits.millis ?? LONGEST) + limits.graceMillis + END_MILLIS),
          abortMillis: limits.graceMillis + END_MILLIS,
          close: async () => site.groups.forEach((group) => group.kill()),
          ...Operations.channel({
            run: Operations.operation({
              fields: payload,
              about: ({ argv: [program = ""] }) => JSON.stringify(program.slice(0, 200)),
              execute: (request, job) => run(site, request, job)
            })
          })
        }
      }
    }
  }
})
