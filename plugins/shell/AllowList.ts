/**
 * The programs that a shell channel may run, and their arguments.
 *
 * Arguments go to the program as they are, without a shell. So only their meaning for the program is restricted here.
 *
 * @module
 */
import * as Fields from "../channel/Fields.ts"

/** An allowed program. `*` in a pattern is any text without `..`, which would lead out of a folder. */
export interface Entry {
  /**
   * The program as a request names it: an absolute path, a name that is looked up in the `PATH` of the process, or a path
   * below the root of the channel, which begins with `./`.
   */
  readonly program: string
  /** The pattern of each argument that is no option, in their order. Default: no arguments. */
  readonly args: "any" | ReadonlyArray<string>
  /** The patterns of the allowed options, which begin with `-`. Default: none. */
  readonly options: "any" | ReadonlyArray<string>
}

/** The most entries, and the most patterns of one. */
const ENTRIES = 256

const pattern = Fields.text(4096)
const patterns = Fields.or(
  Fields.guard(`"any" or a list of at most ${ENTRIES} patterns`, (value): value is "any" | ReadonlyArray<string> =>
    value === "any" || Fields.list(pattern, ENTRIES).read(value) !== undefined),
  [] as ReadonlyArray<string>
)

const isProgram = (value: unknown): value is string =>
  typeof value === "string" && /^[^\0\\]{1,4096}$/.test(value) && (/^\.?\//.test(value) || !value.includes("/"))

/** Whether a program is named by its path below the root of the channel. */
export const isBelowRoot = (program: string): boolean => program.startsWith(BELOW)

/** The beginning of such a path. */
export const BELOW = "./"

const shape = {
  program: Fields.guard("an absolute path, a name without slashes, or a path below the root that begins with ./", isProgram),
  args: patterns,
  options: patterns
}

/** Reads the option `allow`. A text is a program without arguments. */
export const read = (allow: ReadonlyArray<unknown>, refuse: (problem: string) => Error): ReadonlyArray<Entry> =>
  allow.map((entry, i) => Fields.decode(shape, typeof entry === "string" ? { program: entry } : entry, (problem) =>
    refuse(`entry ${i + 1} of allow: ${problem}`)))

/** The field of the option `allow`. */
export const field = Fields.or(Fields.list(Fields.any, ENTRIES), [] as ReadonlyArray<unknown>)

const matches = (text: string, pattern: string): boolean => {
  const [first = "", ...rest] = pattern.split("*")
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1 || leadsUp(text, at, found)) return false
    at = found + part.length
  }
  return at <= text.length - last.length && !leadsUp(text, at, text.length - last.length)
}

/** Whether the text between two places, or at its ends, has `..`. */
const leadsUp = (text: string, from: number, to: number): boolean => text.slice(Math.max(0, from - 1), to + 1).includes("..")

/** The reason for which an entry refuses arguments, or `undefined`. The arguments themselves are not shown. */
const misfit = ({ args, options }: Entry, given: ReadonlyArray<string>): string | undefined => {
  let position = 0
  for (const [i, argument] of given.entries()) {
    const expected = args === "any" ? undefined : args[position]
    if (argument.startsWith("-")) {
      if (options === "any" || options.some((option) => matches(argument, option))) continue
      if (expected === undefined || !expected.startsWith("-") || !matches(argument, expected)) {
        return `argument ${i + 1} begins with "-", and the entry names no such option`
      }
    } else if (args !== "any" && (expected === undefined || !matches(argument, expected))) {
      return expected === undefined ? `argument ${i + 1} is one too many` : `argument ${i + 1} does not match its pattern`
    }
    position++
  }
  return args !== "any" && position < args.length ? `it has ${position} arguments, and the entry has ${args.length}` : undefined
}

/** The reason for which no entry allows a command line, or `undefined` if one does. */
export const refusal = (entries: ReadonlyArray<Entry>, [program = "", ...args]: ReadonlyArray<string>): string | undefined => {
  const candidates = entries.filter((entry) => entry.program === program)
  const reasons = candidates.map((entry) => misfit(entry, args))
  if (reasons.includes(undefined)) return undefined
  return reasons[0] ?? "it is not on the allow list of the channel; add it to the option allow"
}
