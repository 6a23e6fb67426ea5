import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hash } from "../../src/persistence/PureSha256.ts"
import * as ReportOutput from "../../plugins/agent/commands/ReportOutput.ts"
import * as Approval from "../../plugins/agent/document/Approval.ts"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import * as Record from "../../plugins/agent/order/Record.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { fileOf, KEY, withAgent } from "./TestAgent.ts"

/** A block of a program with some lines. */
const blockOf = (id: string, ...lines: ReadonlyArray<string>): string =>
  [`### [HIGH] ${id}`, `- **id**: ${id}`, "- **type**: shell", "- **status**: pending", ...lines, ""].join("\n")

/** A request to the channel of programs. */
interface Payload {
  readonly argv: ReadonlyArray<string>
  readonly cwd: string
  readonly env: object
}

const parse = (...lines: ReadonlyArray<string>) => ControlFiles.parse(fileOf(blockOf("a", ...lines)))

/** The lines that a person approves. */
const shown = ({ actions }: ControlFiles.ControlFile): ReadonlyArray<string> =>
  ReportOutput.programs(actions.map((action) => ({ action, hash: "h" })))

const codes = ({ issues }: ControlFiles.ControlFile) => issues.map(({ code, severity }) => `${severity} ${code}`)

describe("The approval of a program", () => {
  it.each([
    ["a command that is repeated", ["- **command**: rm -rf data", "- **command**: echo harmless"]],
    ["a command that is also an entry of params", ["- **params**:", "  - command: rm -rf data", "- **command**: echo harmless"]],
    ["an entry that is repeated in another letter case", ["- **params**:", "  - command: rm -rf data", "  - Command: echo harmless"]],
    ["a variable that is repeated", ["- **command**: ls", "- **env**:", "  - HOME: /a", "  - HOME: /b"]],
    ["a folder that is repeated", ["- **command**: ls", "- **working_dir**: /a", "- **working_dir**: /b"]]
  ])("is not asked for %s: that is an error", (_, lines) => {
    const file = parse(...lines)
    assert.deepStrictEqual(codes(file), ["error agent/field-repeated"])
    assert.deepStrictEqual(file.actions, [])
  })

  it("shows each field with which the program runs", () => {
    const file = parse("- **params**:", "  - command: backup.sh --all", "  - working_dir: /srv", "- **env**:", "  - MODE: full",
      "- **output_file**: log.txt", "- **capture_output**: true")
    assert.deepStrictEqual(shown(file), [
      "a  h  backup.sh --all", "      working_dir: /srv", "      env MODE: full", "      capture_output: true", "      output_file: log.txt"
    ])
  })

  it("shows spaces and signs that a terminal shows as others", () => {
    assert.deepStrictEqual(shown(parse("- **command**: rm  'a  b'")), ["a  h  rm  'a  b'"])
    assert.deepStrictEqual(shown(parse("- **command**: rm a\u00a0b\u202ec")), ["a  h  \"rm a\\u{a0}b\\u{202e}c\""])
  })

  it.effect("shows what runs, and nothing runs that it does not show, for random blocks", () =>
    Effect.forEach(Trials.seeds(60, { least: 8 }), (seed) => {
      const draw = Random.make(seed)
      const line = (key: string, value: string): ReadonlyArray<string> =>
        Random.pick(draw, [[], [`- **${key}**: ${value}`], ["- **params**:", `  - ${key}: ${value}`]])
      const lines = Random.shuffled(draw, [
        line("command", "echo one"), line("command", "echo  two"), line("working_dir", "/srv"), line("working_dir", "/tmp"),
        draw(2) === 0 ? [] : ["- **env**:", "  - A: 1", "  - B: 2"]
      ]).flat()
      const ran: Array<unknown> = []
      const shell = (_: string, payload: object) => {
        ran.push(payload)
        return { code: 0, stdout: "", stderr: "" }
      }
      return withAgent(fileOf(blockOf("a", ...lines)), ({ space, wake }) => Effect.gen(function*() {
        const { held } = yield* wake()
        assert.deepStrictEqual(ran, [])
        const [first] = held
        if (first === undefined) return
        assert.strictEqual(first.hash, hash.hex(Approval.textOf(first.action.block)).slice(0, 32))
        yield* space.set(Record.approval(KEY, first.hash), { action: "a" })
        yield* wake()
        const { argv, cwd, env } = ran[0] as Payload
        const [command = "", ...others] = ReportOutput.programs(held)
        assert.deepStrictEqual(command.split("  ").slice(2).join("  ").split(/ +/), argv, lines.join("\n"))
        const variables = Object.entries(env).map(([key, value]) => `env ${key}: ${value}`)
        const expected = [...cwd === "" ? [] : [`working_dir: ${cwd}`], ...variables]
        assert.deepStrictEqual(others.map((each) => each.trim()).toSorted(), expected.toSorted(), lines.join("\n"))
      }), { scripts: { shell }, settings: { approval: "hold" } })
    }, { discard: true }))
})
