/**
 * The `console` blocks of a page: commands after `$`, each with the output that it has to print.
 *
 * In an output `…` stands for any text and `<name>` for a value that later commands use by that name.
 * A command without output lines may print anything. `# exit N` behind a command says how it ends; 0 otherwise.
 *
 * @module
 */

/** A command and its expectation. */
export interface Command {
  readonly line: string
  readonly exit: number
  /** The expected output; empty for any. */
  readonly output: string
}

/** The commands of a block, in order. */
export const parse = (block: string): ReadonlyArray<Command> =>
  block.split(/^\$ /m).slice(1).map((part) => {
    const [line = "", ...output] = part.trimEnd().replaceAll(/\s*\\\n\s*/g, " ").split("\n")
    const [, exit = "0"] = /# exit (\d)$/.exec(line) ?? []
    return { line: line.replace(/\s*# exit \d$/, ""), exit: Number(exit), output: output.join("\n") }
  })

/** Quotes and backslashes away. */
const unquoted = (part: string): string =>
  part.startsWith("'") ? part.slice(1, -1) : (part.startsWith("\"") ? part.slice(1, -1) : part).replaceAll(/\\(.)/g, "$1")

/** The words of a command line, as a POSIX shell splits them; there are no variables. */
export const words = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/g)].map(([word]) =>
    word.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./g, unquoted))

/** The values that outputs gave so far, by their names. */
export type Values = Readonly<Record<string, string>>

/** A command line with the values in the place of their names. */
export const filled = (line: string, values: Values): string => line.replaceAll(/<(\w+)>/g, (name, key: string) => values[key] ?? name)

/** A command with the values in the place of their names, in its line and in its output. */
export const fill = (command: Command, values: Values): Command =>
  ({ ...command, line: filled(command.line, values), output: filled(command.output, values) })

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")

/** The values that an output gives, or `undefined` where it is not the expected one. */
export const match = (expected: string, output: string): Values | undefined => {
  const known = new Set<string>()
  const named = (name: string): string => {
    if (known.has(name)) return `\\k${name}`
    known.add(name)
    return `(?${name}[^\\s"]+)`
  }
  const patternOf = (part: string): string => {
    if (part === "…") return "[\\s\\S]*?"
    return /^<\w+>$/.test(part) ? named(part) : escaped(part).replaceAll(/ {2,}/g, " +")
  }
  const pattern = expected.split(/(…|<\w+>)/).map(patternOf)
  const found = new RegExp(`^${pattern.join("")}$`).exec(output.trim())
  return found === null ? undefined : { ...found.groups }
}

/** A request as `curl` makes it of these words: `-X`, `-H` and `-d`. */
export const request = ([, ...given]: ReadonlyArray<string>): Request => {
  const options = new Map<string, Array<string>>()
  let url = ""
  for (let i = 0; i < given.length; i++) {
    const word = given[i] ?? ""
    if (word.startsWith("-")) options.set(word, [...options.get(word) ?? [], given[++i] ?? ""])
    else url = word
  }
  const headers = (options.get("-H") ?? []).map((header) => header.split(/: */, 2) as [string, string])
  const [body] = options.get("-d") ?? []
  const [method = body === undefined ? "GET" : "POST"] = options.get("-X") ?? []
  return new Request(url, { method, headers, ...(body === undefined ? {} : { body }) })
}
