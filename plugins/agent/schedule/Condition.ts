/**
 * Conditions: a small total language over an explicit environment.
 *
 * A condition consists of tests joined by `NOT`, `AND` and `OR`, in this order of precedence. A new line joins like `AND`.
 * Evaluation reads the environment alone, and ends for each condition.
 *
 * @module
 */
import { type Refusal, Zone } from "systole/time"
import { TIME } from "./Schedule.ts"
import { closest } from "../text/Suggestion.ts"

/** A test of a condition. */
export type Test =
  | { readonly kind: "file_exists"; readonly path: string }
  | { readonly kind: "env_set"; readonly name: string }
  | { readonly kind: "time_after" | "time_before"; readonly minute: number }
  | { readonly kind: "weekday"; readonly days: ReadonlyArray<number> }
  | { readonly kind: "action_completed" | "action_failed"; readonly id: string }
  | { readonly kind: "any_failed" | "all_completed" }

/** A test, or its negation. */
export interface Literal {
  readonly test: Test
  readonly isNegated: boolean
}

/**
 * A condition: alternatives joined by `OR`, each a list of literals joined by `AND`.
 */
export interface Condition {
  readonly alternatives: ReadonlyArray<ReadonlyArray<Literal>>
}

/**
 * The facts that a condition may read.
 */
export interface Environment {
  /** The time, in milliseconds since 1970. */
  readonly now: number
  /** The time zone of `time_after`, `time_before` and `weekday`. */
  readonly zone: string
  /** The paths and patterns of {@link Requirements} for which a file exists. */
  readonly files: ReadonlySet<string>
  /** The names of environment variables that are set and not empty. */
  readonly variables: ReadonlySet<string>
  /** The outcomes of the actions of the file, by id. */
  readonly outcomes: ReadonlyMap<string, Outcome>
  /** The id of the action with the condition, which `any_failed` and `all_completed` leave out. */
  readonly self: string
}

/** The outcome of an action: of its last run, or of none. */
export type Outcome = "completed" | "failed" | "skipped" | "open"

/** The facts outside the file that conditions need. */
export interface Requirements {
  readonly files: ReadonlySet<string>
  readonly variables: ReadonlySet<string>
}

/** The maximum length of a condition, and the maximum number of its words. */
export const MAX_LENGTH = 4_096
const MAX_WORDS = 256

const HOUR = 60

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

const refuse = (refused: string, suggestion: string): Refusal => ({ refused, suggestion })

const timeOf = (kind: "time_after" | "time_before") => (argument: string): Test | Refusal => {
  const [, hour, minute] = TIME.exec(argument) ?? []
  if (hour === undefined) return refuse(`"${kind}:${argument}" names no time from 00:00 to 23:59`, `write a time such as ${kind}:22:00`)
  return { kind, minute: Number(hour) * HOUR + Number(minute) }
}

const ofAction = (kind: "action_completed" | "action_failed") => (id: string): Test | Refusal =>
  id === "" ? refuse(`"${kind}" names no action`, `write the id of an action, such as ${kind}:backup`) : { kind, id }

const ofAll = (kind: "any_failed" | "all_completed") => (argument: string): Test | Refusal =>
  argument === "" ? { kind } : refuse(`"${kind}" takes no argument, and has "${argument}"`, `write ${kind}`)

const weekdayOf = (argument: string): Test | Refusal => {
  const found: Array<number> = []
  for (const part of argument.toLowerCase().split(",")) {
    const [first = "", last = first] = part.trim().split("-")
    const from = days.indexOf(first.slice(0, 3))
    const to = days.indexOf(last.slice(0, 3))
    if (from < 0 || to < 0) {
      return refuse(`"weekday:${argument}" has the unknown day "${part}"`, "write days such as weekday:mon,tue or weekday:mon-fri")
    }
    for (let day = from; ; day = (day + 1) % days.length) {
      found.push(day)
      if (day === to) break
    }
  }
  return { kind: "weekday", days: found }
}

const forms: Readonly<Record<string, (argument: string) => Test | Refusal>> = {
  file_exists: (path) =>
    path === ""
      ? refuse("\"file_exists\" names no path", "write a path or a pattern, such as file_exists:data/*.csv")
      : { kind: "file_exists", path },
  env_set: (name) =>
    /^[A-Za-z_]\w*$/.test(name)
      ? { kind: "env_set", name }
      : refuse(`"env_set:${name}" names no environment variable`, "write a name such as env_set:API_KEY"),
  time_after: timeOf("time_after"),
  time_before: timeOf("time_before"),
  weekday: weekdayOf,
  action_completed: ofAction("action_completed"),
  action_failed: ofAction("action_failed"),
  any_failed: ofAll("any_failed"),
  all_completed: ofAll("all_completed")
}

const parsers = new Map(Object.entries(forms))

const testOf = (word: string): Test | Refusal => {
  const colon = word.indexOf(":")
  const name = colon < 0 ? word : word.slice(0, colon)
  const parser = parsers.get(name.toLowerCase())
  if (parser !== undefined) return parser(colon < 0 ? "" : unquoted(word.slice(colon + 1)))
  const similar = closest(name, [...parsers.keys()])
  const known = `the tests are ${[...parsers.keys()].join(", ")}`
  const suggestion = similar === undefined ? known : `write ${similar}; ${known}`
  return refuse(`The test "${name.slice(0, 100)}" of the condition is unknown`, suggestion)
}

const unquoted = (text: string): string => text.length > 1 && text.startsWith("\"") && text.endsWith("\"") ? text.slice(1, -1) : text

/** Splits into words. Quoted parts keep their spaces, and an end of line is the word AND unless one joins the lines. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  for (const line of text.split(/\r\n|\r|\n/)) {
    const found = line.match(/(?:"[^"]*"|[^\s"])+|"/g) ?? []
    const [first = ""] = found
    if (words.length > 0 && found.length > 0 && !isJoin(words.at(-1)) && !isJoin(first) && !isWord(words.at(-1), "NOT")) words.push("AND")
    words.push(...found)
  }
  return words
}

const BOTH = "write tests on both sides, such as any_failed AND env_set:HOME"

const isWord = (word: string | undefined, keyword: string): boolean => word?.toUpperCase() === keyword

const isJoin = (word: string | undefined): boolean => isWord(word, "AND") || isWord(word, "OR")

/**
 * Parses a condition.
 */
export const parse = (text: string): Condition | Refusal => {
  if (text.length > MAX_LENGTH) {
    return refuse(`The condition has ${text.length} characters, and ${MAX_LENGTH} are the limit`, "split the action")
  }
  const words = wordsOf(text)
  if (words.length > MAX_WORDS) return refuse(`The condition has ${words.length} words, and ${MAX_WORDS} are the limit`, "split the action")
  const alternatives: Array<Array<Literal>> = [[]]
  let isNegated = false
  let isOpen = true
  for (const word of words) {
    if (isWord(word, "NOT") && isOpen) {
      isNegated = !isNegated
    } else if (isJoin(word)) {
      if (isOpen) return refuse(`The condition has "${word}" without a test before it`, BOTH)
      if (isWord(word, "OR")) alternatives.push([])
      isOpen = true
    } else {
      if (!isOpen) return refuse(`The condition has no AND or OR before "${word.slice(0, 100)}"`, `write AND ${word.slice(0, 100)}, or OR`)
      const test = testOf(word)
      if ("refused" in test) return test
      alternatives.at(-1)?.push({ test, isNegated })
      isNegated = false
      isOpen = false
    }
  }
  if (words.length === 0) return refuse("The condition is empty", "write a test such as any_failed, or remove the field")
  if (isOpen) return refuse("The condition ends without a test", BOTH)
  return { alternatives }
}

/**
 * Evaluates a condition.
 */
export const evaluate = ({ alternatives }: Condition, environment: Environment): boolean =>
  alternatives.some((literals) => literals.every(({ isNegated, test }) => holds(test, environment) !== isNegated))

const holds = (test: Test, environment: Environment): boolean => {
  const { files, now, outcomes, self, variables, zone } = environment
  switch (test.kind) {
    case "file_exists":
      return files.has(test.path)
    case "env_set":
      return variables.has(test.name)
    case "time_after":
      return minuteOf(now, zone) >= test.minute
    case "time_before":
      return minuteOf(now, zone) < test.minute
    case "weekday":
      return test.days.includes(Zone.localOf(now, zone).weekday)
    case "action_completed":
      return outcomes.get(test.id) === "completed"
    case "action_failed":
      return outcomes.get(test.id) === "failed"
    case "any_failed":
      return others(outcomes, self).some((outcome) => outcome === "failed")
    case "all_completed":
      return others(outcomes, self).every((outcome) => outcome === "completed")
  }
}

const others = (outcomes: ReadonlyMap<string, Outcome>, self: string): ReadonlyArray<Outcome> =>
  [...outcomes].flatMap(([id, outcome]) => id === self ? [] : [outcome])

const minuteOf = (now: number, zone: string): number => {
  const { hour, minute } = Zone.localOf(now, zone)
  return hour * HOUR + minute
}

/** Collects the facts that some conditions need. */
export const requirementsOf = (conditions: ReadonlyArray<Condition>): Requirements => {
  const files = new Set<string>()
  const variables = new Set<string>()
  for (const { test } of conditions.flatMap(({ alternatives }) => alternatives.flat())) {
    if (test.kind === "file_exists") files.add(test.path)
    if (test.kind === "env_set") variables.add(test.name)
  }
  return { files, variables }
}

/** Whether a condition depends on the clock. */
export const isTimed = ({ alternatives }: Condition): boolean =>
  alternatives.flat().some(({ test: { kind } }) => kind === "time_after" || kind === "time_before" || kind === "weekday")

/** Whether a condition reads the ends of all other actions. */
export const readsAll = ({ alternatives }: Condition): boolean =>
  alternatives.flat().some(({ test: { kind } }) => kind === "any_failed" || kind === "all_completed")

/** Returns the ids of the actions that a condition names. */
export const actionsOf = ({ alternatives }: Condition): ReadonlyArray<string> =>
  alternatives.flat().flatMap(({ test }) => "id" in test ? [test.id] : [])

/**
 * Finds an alternative that no time of day satisfies: `time_after` with a later time than `time_before`. Such a range
 * over midnight needs OR.
 */
export const doubt = ({ alternatives }: Condition): string | undefined => {
  for (const literals of alternatives) {
    const tests = literals.filter(({ isNegated }) => !isNegated).map(({ test }) => test)
    const after = Math.max(...tests.map((test) => test.kind === "time_after" ? test.minute : 0))
    const before = Math.min(...tests.map((test) => test.kind === "time_before" ? test.minute : Number.POSITIVE_INFINITY))
    if (after >= before) return `The condition is never true: no time of day is after ${clock(after)} and before ${clock(before)}`
  }
  return undefined
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / HOUR)).padStart(2, "0")}:${String(minute % HOUR).padStart(2, "0")}`
