/**
 * The channel `worker`: functions of a module of the project, on threads of their own. For work that needs much time of a
 * processor or blocks its thread.
 *
 * | opcode | payload | value |
 * |---|---|---|
 * | `run` | `{ fn, input }`; `fn` is an export of the module, by default `default` | the value of the function |
 *
 * ```ts
 * export const resize = (input: { readonly image: Uint8Array }, { key }: { readonly key: string }) => …
 * ```
 *
 * The function gets the input and `{ space, rid, key, attempt }`, and may return a promise. Input and value are plain data that threads
 * exchange; a `URL` is not. A value has at most 1 MiB of text. A throw fails with `worker/failed` and the first 1,000 characters of
 * its message, an absent function with `worker/absent`, another value with `worker/value`, and the end of a thread with `worker/ended`.
 *
 * | option | meaning | default |
 * |---|---|---|
 * | `module` | the module, relative to the project; a thread loads it once | required |
 * | `threads` | the threads, and so the calls at the same time | 2 |
 * | `repeatable` | whether a call may be executed again after a restart | `false` |
 * | `memoryMiB` | the heap of a thread, on Node | 512 |
 * | `timeoutMs` | the longest time of a call, at most 1 day | 600,000 |
 *
 * An abort and the end of the time end the thread in the middle of its work. A call that waits for the system, such as a read of a
 * pipe, holds its thread until the wait is over: its request has ended, and its place is that of a hung job.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Channel, type ChannelOptions, Document, Plugin } from "systole"
import * as Fields from "./channel/Fields.ts"
import * as Operations from "./channel/Operations.ts"
import { type Answer, ThreadPool } from "./worker/ThreadPool.ts"

const options = {
  module: Fields.text(4096),
  threads: Fields.or(Fields.count(1, 256), 2),
  repeatable: Fields.or(Fields.flag, false),
  memoryMiB: Fields.or(Fields.count(16, 65_536), 512),
  timeoutMs: Fields.or(Fields.count(1, 86_400_000), 600_000)
} satisfies Fields.For<ChannelOptions["worker"]>

const payload = {
  fn: Fields.or(Fields.guard("the name of an export", (value): value is string =>
    typeof value === "string" && /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,254}$/u.test(value)), "default"),
  input: Fields.optional(Fields.any)
}

/** The messages of failures, by their kind. */
const reasons = {
  input: ["io/invalid", "cannot get its input"],
  absent: ["worker/absent", "cannot be called"],
  thrown: ["worker/failed", "failed"],
  value: ["worker/value", "returned a value that is no plain data"],
  ended: ["worker/ended", "lost its thread"]
} as const

const failed = (kind: keyof typeof reasons, fn: string, message: string): Channel.ChannelError => {
  const [code, what] = reasons[kind]
  return Channel.fail(code, `the function ${fn} ${what}: ${message}`)
}

/** The result of a call. Its value has to be one of a cell. */
const resultOf = (answer: Answer, fn: string): Channel.JobResult => {
  if ("failure" in answer) throw failed(answer.failure, fn, answer.message)
  if (answer.value === undefined) return {}
  try {
    Document.encode(answer.value)
  } catch (error) {
    throw failed("value", fn, (error as Error).message)
  }
  return { value: answer.value }
}

export default Plugin.make({
  name: "worker",
  version: "0.1.0",
  provides: {
    channels: {
      worker: (settings) => {
        const { memoryMiB, module, repeatable, threads, timeoutMs } = Fields.options("worker", options, settings)
        const file = resolve(settings.root, module)
        if (!existsSync(file)) throw Fields.refusal("worker", settings, `there is no module ${JSON.stringify(module.slice(0, 200))}`)
        const pool = new ThreadPool(pathToFileURL(file).href, memoryMiB)
        return {
          provider: "worker",
          hosts: ["node", "deno", "bun"],
          target: module,
          shim: true,
          jobs: threads,
          timeoutMs,
          close: () => pool.close(),
          ...Operations.channel({
            run: Operations.operation({
              repeatable,
              fields: payload,
              about: ({ fn }) => fn,
              execute: async ({ fn, input }, { attempt, key, rid, signal, space }) =>
                resultOf(await pool.call({ fn, input, context: { space, rid, key, attempt } }, signal), fn)
            })
          })
        }
      }
    }
  }
})
