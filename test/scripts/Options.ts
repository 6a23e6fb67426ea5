/**
 * The options of a script: `--help` prints them, and an option or a value that it does not have is refused with those that it has.
 *
 * @module
 */
import process from "node:process"
import { parseArgs } from "node:util"

/** An option. */
export interface Option<Value> {
  readonly about: string
  /** The value behind its name, such as `N`; absent for a flag. */
  readonly value?: string
  /** The value of the texts that were given, none for an absent option. A wrong one is refused with the reason. */
  readonly read: (given: ReadonlyArray<string>) => Value | Refused
}

interface Refused {
  readonly refused: string
}

const isRefused = (value: unknown): value is Refused => typeof value === "object" && value !== null && "refused" in value

/** A switch without a value. */
export const flag = (about: string): Option<boolean> => ({ about, read: (given) => given.length > 0 })

/** A text; the last one counts. Without one, the value is `absent`. */
export const text = <Absent extends string | undefined>(value: string, about: string, absent: Absent): Option<string | Absent> =>
  ({ about: withDefault(about, absent), value, read: (given) => given.at(-1) ?? absent })

/** One of some texts. Without one, the value is `absent`. */
export const choice = <Name extends string, Absent extends NoInfer<Name> | undefined>(value: string, about: string, { absent, among }: {
  readonly among: ReadonlyArray<Name>
  readonly absent: Absent
}): Option<Name | (undefined extends Absent ? undefined : never)> => ({
  about: withDefault(about, absent),
  value,
  read: (given) => chosen(given.slice(-1), value, among) ?? among.find((name) => name === (given.at(-1) ?? absent)) ?? absent as never
})

/** Several of some texts; all of them without one. */
export const choices = (value: string, about: string, among: ReadonlyArray<string>): Option<ReadonlyArray<string>> =>
  ({ about, value, read: (given) => chosen(given, value, among) ?? (given.length === 0 ? among : given) })

const chosen = (given: ReadonlyArray<string>, value: string, among: ReadonlyArray<string>): Refused | undefined => {
  const unknown = given.find((name) => !among.includes(name))
  return unknown === undefined ? undefined : { refused: `there is no ${value.toLowerCase()} "${unknown}"; there are ${among.join(", ")}` }
}

/** A whole number from `least` up. */
export const whole = (about: string, absent: number, least = -Number.MAX_SAFE_INTEGER): Option<number> => ({
  about: withDefault(about, absent),
  value: "N",
  read: ([...given]) => {
    const found = given.length === 0 ? absent : numberOf(given.at(-1))
    const range = least < 0 ? "" : ` from ${least} up`
    return Number.isSafeInteger(found) && found >= least ? found : { refused: `it is "${given.at(-1)}"; give a whole number${range}` }
  }
})

/** A number of minutes above 0. */
export const minutes = <Absent extends number | undefined>(about: string, absent: Absent): Option<number | Absent> => ({
  about: withDefault(about, absent),
  value: "MINUTES",
  read: (given) => {
    if (given.length === 0) return absent
    const found = numberOf(given.at(-1))
    return found > 0 && found < Infinity ? found : { refused: `it is "${given.at(-1)}"; give a number above 0` }
  }
})

/** An empty text is no number. */
const numberOf = (text = ""): number => text.trim() === "" ? Number.NaN : Number(text)

const withDefault = (about: string, absent: string | number | undefined): string =>
  absent === undefined ? about : `${about} (${absent} without it)`

/** The usage of a script. */
export interface Usage<Options extends Readonly<Record<string, Option<unknown>>>> {
  /** The script as `npm run` names it. */
  readonly script: string
  readonly about: string
  readonly options: Options
  /** The other arguments, such as `[PART …]`; absent if there are none. */
  readonly others?: string
}

type Values<Options> = { readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never }

/** The values of the options, and the other arguments. */
export interface Given<Options> {
  readonly values: Values<Options>
  readonly others: ReadonlyArray<string>
}

/** The end of a script that its arguments ask for. */
export type End = { readonly help: string } | Refused

type Table = Readonly<Record<string, Option<unknown>>>

/** The usage as a text, with a line for each option. */
const helpOf = ({ about, options, others, script }: Usage<Table>): string => {
  const named = Object.entries(options).map(([name, { about, value }]) => [`--${name}${value === undefined ? "" : ` ${value}`}`, about])
  const rows = [...named, ["--help", "Prints this text"]]
  const width = Math.max(...rows.map(([name = ""]) => name.length))
  const shown = [...others === undefined ? [] : [others], ...named.map(([name]) => `[${name}]`)]
  const line = ["npm run", script, ...shown.length === 0 ? [] : ["--", ...shown]].join(" ")
  return `${line}\n\n${about}\n\n${rows.map(([name = "", about]) => `  ${name.padEnd(width)}  ${about}`).join("\n")}`
}

const named = (options: Table): string => [...Object.keys(options), "help"].map((name) => `--${name}`).join(", ")

/** The texts that options were given, by name, and the other arguments. */
interface Sorted {
  readonly texts: ReadonlyMap<string, ReadonlyArray<string>>
  readonly others: ReadonlyArray<string>
}

const sorted = (usage: Usage<Table>, args: ReadonlyArray<string>): Sorted | End => {
  const { options, others, script } = usage
  const types = Object.entries(options).map(([name, { value }]) => [name, value === undefined ? "boolean" : "string"] as const)
  // Deno and pnpm hand over the mark that npm takes for itself.
  const { tokens } = parseArgs({
    args: args.filter((argument, i) => i > 0 || argument !== "--"),
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries(types.map(([name, type]) => [name, { type }]))
  })
  const texts = new Map<string, Array<string>>()
  const beside: Array<string> = []
  for (const token of tokens) {
    if (token.kind === "positional") beside.push(token.value)
    if (token.kind !== "option") continue
    const { name, rawName, value } = token
    if (name === "help") return { help: helpOf(usage) }
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) return { refused: `npm run ${script} has no option ${rawName}; it has ${named(options)}` }
    if (option.value !== undefined && value === undefined) return { refused: `${rawName} has no value; give ${rawName} ${option.value}` }
    if (option.value === undefined && value !== undefined) return { refused: `${rawName} takes no value, and "${value}" stands behind it` }
    texts.set(name, [...texts.get(name) ?? [], value ?? ""])
  }
  const [first] = beside
  if (others !== undefined || first === undefined) return { texts, others: beside }
  return { refused: `npm run ${script} takes no "${first}"; it has ${named(options)}` }
}

/**
 * Reads arguments by a usage.
 *
 * @category constructors
 */
export const parse = <Options extends Table>(usage: Usage<Options>, args: ReadonlyArray<string>): Given<Options> | End => {
  const found = sorted(usage, args)
  if (!("texts" in found)) return found
  const values: Record<string, unknown> = {}
  for (const [name, { read }] of Object.entries(usage.options)) {
    const value = read(found.texts.get(name) ?? [])
    if (isRefused(value)) return { refused: `--${name}: ${value.refused}` }
    values[name] = value
  }
  return { values: values as Values<Options>, others: found.others }
}

/** Ends the script with a message about its arguments. */
export const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}

/** Reads the arguments of this process. Ends it after `--help`, and for arguments that the script does not have. */
export const read = <Options extends Table>(usage: Usage<Options>): Given<Options> => {
  const found = parse(usage, process.argv.slice(2))
  if ("values" in found) return found
  if ("refused" in found) refuse(found.refused)
  else console.log(found.help)
  process.exit(0)
}
