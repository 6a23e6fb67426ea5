import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Channel } from "systole"
import * as Record from "../../plugins/agent/order/Record.ts"
import { action, type Agent, fileOf, KEY, type Script, withAgent } from "./TestAgent.ts"

/** The fields of a program that is due. */
const program = (fields: Readonly<Record<string, string>> = {}) =>
  ({ type: "shell", command: "backup.sh --all", status: "pending", ...fields })

/** A script that keeps the payloads of its requests. */
const keeping = (heard: Array<unknown>, value: unknown): Script => (_, payload) => {
  heard.push(payload)
  return value
}

const recordOf = ({ space }: Agent, id: string) => Effect.map(space.get(Record.cell(KEY, id)), Record.read)

/** The kept attempts of an action. */
const historyOf = ({ space }: Agent, id: string) =>
  Effect.map(space.get(`${Record.history(KEY)}/${id}`), (value) => (value as ReadonlyArray<unknown>).map(Record.read))

describe("A program of an action", () => {
  const heard: Array<unknown> = []
  it.effect("has the time of its action, by default five minutes, and not that of the channel", () =>
    withAgent(
      fileOf(action("a", program()), action("b", program({ timeout: "20m" })), action("c", program({ timeout: "60d" }))),
      Effect.fnUntraced(function*({ wake }) {
        yield* wake()
        assert.deepStrictEqual(heard.map((each) => (each as { readonly millis: number }).millis), [300_000, 1_200_000, 2 ** 31 - 1])
      }),
      { scripts: { shell: keeping(heard, { code: 0, stdout: "", stderr: "" }) } }
    ))

  it.effect("that fails has the last lines of its error output in the history, and none in its message", () =>
    withAgent(
      fileOf(action("a", program())),
      Effect.fnUntraced(function*(agent) {
        yield* agent.wake()
        assert.strictEqual(agent.fields("a")["error"], "the program \"backup.sh\" ended with exit code 3")
        const [found] = yield* historyOf(agent, "a")
        assert.deepInclude(found?.failure, { code: "shell/exit" })
        const shown = found?.failure?.stderr?.split("\n")
        assert.deepStrictEqual(shown, [...Array.from({ length: 9 }, (_, i) => `line ${i + 91}`), "no room on the disk"])
      }),
      {
        scripts: {
          shell: () => ({
            code: 3,
            stdout: "out",
            stderr: [...Array.from({ length: 100 }, (_, i) => `line ${i}`), "no\u001b room on\tthe disk", ""].join("\r\n")
          })
        }
      }
    ))

  it.effect("that a signal ends tells the signal", () =>
    withAgent(
      fileOf(action("a", program())),
      Effect.fnUntraced(function*({ fields, wake }) {
        yield* wake()
        assert.strictEqual(fields("a")["error"], "the program \"backup.sh\" ended by the signal SIGKILL")
      }),
      { scripts: { shell: () => ({ code: null, signal: "SIGKILL", stdout: "", stderr: "" }) } }
    ))
})

describe("The output of an action", () => {
  const long = "x".repeat(200_000)
  /** Channels: programs with content as their output, and files that keep what is written. */
  const scripts = (written: Array<unknown>, more: object = {}) => ({
    shell: async (_: string, __: never, job: Channel.Job) => {
      const keep = async (text: string) => (await job.keep(new TextEncoder().encode(text))).address
      return { code: 0, content: { stdout: await keep(long), stderr: await keep("") }, ...more }
    },
    file: async (_: string, payload: { readonly path: string; readonly content?: string; readonly text?: string }, job: Channel.Job) => {
      const bytes = payload.content === undefined ? undefined : await job.content(payload.content)
      written.push([payload.path, bytes === undefined ? payload.text : new TextDecoder().decode(bytes)])
      return { path: payload.path, bytes: 0 }
    }
  }) as { readonly shell: Script; readonly file: Script }

  const written: Array<unknown> = []
  it.effect("goes into its file as a whole, and the result tells what capture_output cuts", () =>
    withAgent(
      fileOf(action("a", program({ output_file: "log.txt", capture_output: "true" })), action("b", program({ output_file: "b.txt" }))),
      Effect.fnUntraced(function*(agent) {
        yield* agent.wake()
        assert.deepStrictEqual(written, [["log.txt", long], ["b.txt", long]])
        assert.strictEqual(agent.fields("a")["result"], "exit 0; capture_output keeps 65536 of 200000 characters")
        assert.strictEqual(agent.fields("b")["result"], "exit 0")
        assert.strictEqual((yield* recordOf(agent, "a"))?.output?.length, 65_536)
      }),
      { scripts: scripts(written) }
    ))

  const cut: Array<unknown> = []
  it.effect("that was longer than its limit is told in the result and in the history", () =>
    withAgent(
      fileOf(action("a", program({ output_file: "log.txt" })), action("b", program())),
      Effect.fnUntraced(function*(agent) {
        yield* agent.wake()
        assert.strictEqual(agent.fields("a")["result"], "exit 0; the end of its output is lost")
        const [found] = yield* historyOf(agent, "a")
        assert.strictEqual(found?.result, "exit 0; the end of its output is lost")
        assert.strictEqual(agent.fields("b")["result"], "exit 0", "nobody keeps the output of b")
      }),
      { scripts: scripts(cut, { cut: ["stdout"] }) }
    ))
})

describe("An action whose channel is absent", () => {
  it.effect("tells the reason in the file", () =>
    withAgent(
      fileOf(action("a", program())),
      Effect.fnUntraced(function*({ fields, wake }) {
        yield* wake()
        assert.include(fields("a")["error"], "There is no channel \"shell\"")
      }),
      { without: ["shell"] }
    ))
})
