/**
 * Command lines: words by the quoting rules of POSIX, without any expansion.
 *
 * `'…'` keeps its text, `"…"` keeps it but for `\"`, `\\`, `\$` and a backslash with a backquote, and `\` keeps the next
 * character. No variable, pattern or tilde is expanded. A line that needs a shell is refused, and so is a substitution in
 * double quotes.
 *
 * @module
 */
import * as Result from "effect/Result"

/** The signs outside of quotes that need a shell. */
const SHELL = /[|&;<>`\n]/

/** The end of a refused line. */
const REMEDY = "Put the line into a script, and run that as the command"

/** Whether a command substitution begins at an index: `$(` or a backquote. A shell replaces it in double quotes, too. */
const isSubstitution = (line: string, i: number): boolean => line[i] === "`" || (line[i] === "$" && line[i + 1] === "(")

const needsShell = (sign: string, i: number): string => `${sign} at character ${i + 1} needs a shell`

/** A word as it is read: its text, and whether it has begun. */
interface Word {
  text: string
  isBegun: boolean
}

/** Reads the text between double quotes; answers the index after them, or the reason of a refusal. */
const readDoubleQuoted = (line: string, from: number, word: Word): number | string => {
  for (let i = from; i < line.length; i++) {
    const character = line[i]
    if (character === "\"") return i + 1
    if (isSubstitution(line, i)) return needsShell(character === "`" ? character : "$(", i)
    if (character === "\\" && /["\\$`]/.test(line[i + 1] ?? "")) i++
    word.text += line[i]
  }
  return `the quote " at character ${from} is not closed`
}

/** Reads one part of a word; answers the index after it, or the reason of a refusal. */
const readPart = (line: string, i: number, word: Word): number | string => {
  const character = line[i] ?? ""
  word.isBegun = true
  if (character === "'") {
    const end = line.indexOf("'", i + 1)
    if (end === -1) return `the quote ' at character ${i + 1} is not closed`
    word.text += line.slice(i + 1, end)
    return end + 1
  }
  if (character === "\"") return readDoubleQuoted(line, i + 1, word)
  if (character === "\\") {
    if (i + 1 === line.length) return "it ends with a backslash"
    word.text += line[i + 1]
    return i + 2
  }
  word.text += character
  return i + 1
}

/**
 * Splits a line into words. Fails with the reason of a refusal.
 *
 * @example
 * ```ts
 * // split("git log '--format=%h %s'")  // ["git", "log", "--format=%h %s"]
 * ```
 */
export const split = (line: string): Result.Result<ReadonlyArray<string>, string> => {
  const words: Array<string> = []
  let word: Word = { text: "", isBegun: false }
  const end = (): void => {
    if (word.isBegun) words.push(word.text)
    word = { text: "", isBegun: false }
  }
  for (let i = 0; i < line.length;) {
    const character = line[i] ?? ""
    if (character === " " || character === "\t") {
      end()
      i++
      continue
    }
    if (isSubstitution(line, i) || SHELL.test(character)) {
      const sign = character === "$" ? "$(" : character === "\n" ? "a line break" : character
      return Result.fail(`${needsShell(sign, i)}. ${REMEDY}`)
    }
    const next = readPart(line, i, word)
    if (typeof next === "string") return Result.fail(`${next}. ${REMEDY}, or correct it`)
    i = next
  }
  end()
  return words.length === 0 ? Result.fail("it is empty. Name a program") : Result.succeed(words)
}
