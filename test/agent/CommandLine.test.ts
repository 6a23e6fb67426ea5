import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as CommandLine from "../../plugins/agent/text/CommandLine.ts"
import * as Outputs from "../../plugins/agent/text/Outputs.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const words = (line: string): ReadonlyArray<string> => Result.getOrThrow(CommandLine.split(line))

const characters = ["a", "b", " ", "\t", "'", "\"", "\\", "$", "*", "~", "#", "|", ";", "`", "é", "𝄞", "-", "{", "}"]

/** The spellings of a text that POSIX reads as that text. */
const spellings: ReadonlyArray<(text: string) => string> = [
  (text) => `'${text.replaceAll("'", "'\\''")}'`,
  (text) => `"${text.replaceAll(/["\\$`]/g, "\\$&")}"`,
  (text) => text === "" ? "''" : text.replaceAll(/./gsu, "\\$&")
]

describe("CommandLine", () => {
  it("reads back each list of words, however it is quoted", () => {
    for (const seed of Trials.seeds(2_000, { least: 300 })) {
      const draw = Random.make(seed)
      const word = () => Array.from({ length: draw(6) }, () => Random.pick(draw, characters)).join("")
      const list = Array.from({ length: 1 + draw(5) }, word)
      const line = list.map((word) => Random.pick(draw, spellings)(word)).join(Random.pick(draw, [" ", "  ", "\t"]))
      assert.deepStrictEqual(words(line), list, line)
    }
  })

  it("joins quoted and plain parts, and expands nothing", () => {
    assert.deepStrictEqual(words("git log --format='%h %s' \"a b\"c\\ d"), ["git", "log", "--format=%h %s", "a bc d"])
    const line = "echo $HOME *.ts ~ ${output:a} \"${output:b}\""
    assert.deepStrictEqual(words(line), ["echo", "$HOME", "*.ts", "~", "${output:a}", "${output:b}"])
  })

  it.each([
    "a | b", "a > b", "a < b", "a && b", "a; b", "a &", "a $(b)", "a `b`",
    "a \"$(b)\"", "a \"`b`\"", "a\nb", "a 'b", "a \"b", "a \\", "", "  "
  ])("refuses %j, and says what to do", (line) => {
    const found = CommandLine.split(line)
    assert.isTrue(Result.isFailure(found), line)
    if (Result.isFailure(found)) assert.match(found.failure, /script|Name a program/)
  })
})

describe("Outputs", () => {
  it("finds each reference once, and never searches an output", () => {
    assert.deepStrictEqual(Outputs.references("${output:a} ${output: b } ${output:a} $output:c}"), ["a", "b"])
    assert.strictEqual(Outputs.insert("x ${output:a} y", () => "${output:b} $& $1"), "x ${output:b} $& $1 y")
  })
})
