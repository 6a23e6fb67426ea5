/**
 * Actions: the checked contents of action blocks.
 *
 * @module
 */
import type { Parameter } from "./ActionFields.ts"
import * as ActionFields from "./ActionFields.ts"
import * as FieldValues from "./FieldValues.ts"
import type { Block, Field, Item } from "../text/Block.ts"
import { field } from "../text/Block.ts"
import type { Condition } from "../schedule/Condition.ts"
import * as Conditions from "../schedule/Condition.ts"
import { Duration, isRefusal, Moment, type Refusal, Zone } from "systole/time"
import type { Finding } from "../text/Issue.ts"
import * as Repetition from "../text/Repetition.ts"
import * as UnreadLines from "./UnreadLines.ts"
import type { Delay, Retry } from "../schedule/Retry.ts"
import * as Retries from "../schedule/Retry.ts"
import type { Schedule } from "../schedule/Schedule.ts"
import * as Schedules from "../schedule/Schedule.ts"
import { closest } from "../text/Suggestion.ts"

/** The priorities, in the order of execution. */
export const PRIORITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "BG"] as const

/** A priority. */
export type Priority = (typeof PRIORITIES)[number]

/** The statuses that the agent writes. */
export const STATUSES = ["pending", "running", "completed", "failed", "skipped", "blocked"] as const

/** A status that the agent knows. */
export type Status = (typeof STATUSES)[number]

/**
 * A checked action.
 */
export interface Action {
  readonly id: string
  readonly priority: Priority
  readonly name: string
  readonly type: string
  /** The status; "other" for one that the agent does not know, which it keeps and never runs. */
  readonly status: Status | "other"
  readonly schedule: Schedule
  /** The time zone of the schedule and the condition. */
  readonly zone: string
  readonly retry: Retry
  /** The maximum duration of an attempt, in milliseconds. */
  readonly timeout: number
  readonly dependsOn: ReadonlyArray<string>
  readonly condition: Condition | undefined
  /** The condition as it is written; "" for none. */
  readonly conditionText: string
  /** The id of an action that runs when this one has failed. */
  readonly onFailure: string | undefined
  readonly captureOutput: boolean
  readonly outputFile: string | undefined
  /** The fields of its type: those of the block that no other property holds, and those below `params`. */
  readonly params: ReadonlyMap<string, Parameter>
  readonly record: ActionRecord
  readonly block: Block
}

/**
 * The fields in which the agent records the history of an action. Times are milliseconds since 1970.
 */
export interface ActionRecord {
  readonly lastRun: number | undefined
  readonly completedAt: number | undefined
  readonly failedAt: number | undefined
  readonly nextRetry: number | undefined
  /** The number of failed attempts of the current occurrence. */
  readonly retryCount: number
}

/** The defaults of fields that a block leaves out, and the types that are known; undefined for no check of types. */
export interface Defaults {
  readonly zone: string
  readonly attempts: number
  readonly delay: Delay
  readonly timeout: number
  readonly types: ReadonlySet<string> | undefined
}

/** The defaults without a configuration: UTC, one attempt, 5 minutes. */
export const defaults: Defaults = {
  zone: "UTC",
  attempts: 1,
  delay: { kind: "exponential", base: 1_000, cap: 60_000 },
  timeout: 300_000,
  types: undefined
}

/** The maximum number of dependencies of an action. */
export const MAX_DEPENDENCIES = 100

/** The form of ids. */
export const ID = /^[A-Za-z0-9][\w.-]{0,99}$/

/** The names that no object of cells may have as a key, or that each one has: no ids and no names of fields. */
const RESERVED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), "prototype"])

/** Whether an action may have this id. */
export const isId = (text: string): boolean => ID.test(text) && !RESERVED.has(text)

/** An action, or undefined where the block has an error; with all findings. */
export interface CheckedAction {
  readonly action: Action | undefined
  readonly findings: ReadonlyArray<Finding>
}

/**
 * Checks a block.
 */
export const of = (block: Block, given: Defaults = defaults): CheckedAction => new Check(block, given).action()

/** A check: reads the fields of a block, and collects findings. */
class Check {
  readonly findings: Array<Finding> = []
  private readonly block: Block
  private readonly given: Defaults

  constructor(block: Block, given: Defaults) {
    this.block = block
    this.given = given
  }

  action(): CheckedAction {
    const { block, given } = this
    if (block.fields.length === 0) return this.empty()
    this.findings.push(...Repetition.findings(block))
    const priority = this.priority()
    const id = this.id()
    const zone = this.zone()
    const params = paramsOf(block)
    this.names(params)
    const type = this.type(params)
    const action = {
      id,
      priority,
      name: block.name,
      type,
      status: this.status(),
      schedule: this.parsed("schedule", Schedules.always, (text) => Schedules.parse(text, zone)),
      zone,
      retry: this.retry(),
      timeout: this.parsed("timeout", given.timeout, durationOf),
      dependsOn: this.dependsOn(),
      condition: this.condition(),
      conditionText: conditionText(block),
      onFailure: this.text("on_failure"),
      captureOutput: this.parsed("capture_output", false, booleanOf),
      outputFile: this.text("output_file"),
      params,
      record: this.record(zone),
      block
    }
    const isValid = this.findings.every(({ severity }) => severity === "warning")
    return { action: isValid ? action : undefined, findings: this.findings }
  }

  /** A heading without a field has one error, and not one for each field that it lacks. */
  private empty(): CheckedAction {
    const { block, block: { heading, name, unread } } = this
    const suggestion = `write the lines - **id**: ${slugOf(name)} and - **type**: TYPE below it, or make it a heading ####`
    const message = `The heading "${name.slice(0, 100)}" is no action: no field is below it`
    this.find({ code: "agent/action-invalid", offset: heading.start, message, suggestion })
    return { action: undefined, findings: [...this.findings, ...unread.length === 0 ? [] : UnreadLines.findings(block, "")] }
  }

  private find(finding: Omit<Finding, "block">): void {
    this.findings.push({ ...finding, block: this.block.index })
  }

  private missing(message: string, suggestion: string): void {
    this.find({ code: "agent/field-missing", offset: this.block.heading.start, message, suggestion })
  }

  /** The value of a field; undefined for an absent or empty one. */
  private text(key: string): string | undefined {
    const value = field(this.block, key)?.value
    return value === "" ? undefined : value
  }

  private offsetOf(key: string): number {
    return field(this.block, key)?.valueSpan.start ?? this.block.heading.start
  }

  /** Parses the value of a field, or returns the default of an absent one. */
  private parsed<A>(key: string, absent: A, parser: (text: string) => A | Refusal): A {
    const text = this.text(key)
    if (text === undefined) return absent
    const result = parser(text)
    if (typeof result !== "object" || result === null || !isRefusal(result)) return result as A
    this.find({ code: "agent/field-invalid", offset: this.offsetOf(key), message: result.refused, suggestion: result.suggestion })
    return absent
  }

  /** A reserved name in an order would end each wake, so its action has an error. */
  private names(params: ReadonlyMap<string, Parameter>): void {
    for (const [key, value] of params) {
      const name = [key, ...value instanceof Map ? value.keys() : []].find((each) => RESERVED.has(each))
      if (name === undefined) continue
      const message = `The name "${name}" is reserved`
      this.find({ code: "agent/field-invalid", offset: this.offsetOf(key), message, suggestion: "write another name" })
    }
  }

  private priority(): Priority {
    const { heading, name, priority } = this.block
    const upper = priority?.trim().toUpperCase()
    const known = upper === "BACKGROUND" ? "BG" : PRIORITIES.find((each) => each === upper)
    if (known !== undefined) return known
    const similar = closest(priority ?? "", PRIORITIES) ?? "MEDIUM"
    const message = priority === undefined ? `The heading "${name.slice(0, 100)}" has no priority` : `The priority "${priority}" is unknown`
    const suggestion = `write ### [${similar}] ${name.slice(0, 100)}; the priorities are ${PRIORITIES.join(", ")}`
    this.find({ code: "agent/priority-unknown", offset: heading.start, message, suggestion })
    return "MEDIUM"
  }

  private id(): string {
    const { heading, id, name } = this.block
    if (isId(id)) return id
    const suggestion = `write - **id**: ${slugOf(name)}`
    if (id === "") {
      this.find({ code: "agent/field-missing", offset: heading.start, message: `The action "${name.slice(0, 100)}" has no id`, suggestion })
    } else {
      const reason = RESERVED.has(id) ? "is reserved" : "is no word of letters, digits, \".\", \"_\" and \"-\""
      const message = `The id "${id.slice(0, 100)}" ${reason}`
      this.find({ code: "agent/field-invalid", offset: this.offsetOf("id"), message, suggestion })
    }
    return id
  }

  private zone(): string {
    return this.parsed<string>("timezone", this.given.zone, zoneOf)
  }

  private type(params: ReadonlyMap<string, Parameter>): string {
    const type = this.text("type")?.toLowerCase() ?? ""
    const known = [...this.given.types ?? ActionFields.TYPES.keys()]
    const unread = UnreadLines.findings(this.block, type)
    this.findings.push(...unread)
    if (type === "") {
      this.missing(`The action "${this.block.name.slice(0, 100)}" has no type`, `write - **type**: TYPE, with one of ${known.join(", ")}`)
      return type
    }
    if (this.given.types?.has(type) === false) {
      const similar = closest(type, known)
      const suggestion = `${similar === undefined ? "" : `write ${similar}; `}the types are ${known.join(", ")}`
      const message = `The type "${type.slice(0, 100)}" is unknown`
      this.find({ code: "agent/field-invalid", offset: this.offsetOf("type"), message, suggestion })
    }
    for (const names of ActionFields.TYPES.get(type)?.needed ?? []) {
      if (names.some((name) => params.get(name) !== undefined && params.get(name) !== "")) continue
      // A field with a wrong name is told already.
      if (unread.some(({ code, suggestion }) => code === "agent/field-unknown" && names.some((name) => suggestion === `write ${name}`))) {
        continue
      }
      const [name = ""] = names
      this.missing(`The ${type} action "${this.block.id.slice(0, 100)}" has no ${name}`, `write - **${name}**: VALUE`)
    }
    for (const { key, ...finding } of FieldValues.misfits(type, params)) this.find({ ...finding, offset: this.offsetOf(key) })
    return type
  }

  private status(): Status | "other" {
    const text = this.text("status") ?? "pending"
    const known = STATUSES.find((status) => status === text.toLowerCase())
    if (known !== undefined) return known
    const message = `The status "${text.slice(0, 100)}" is unknown, so the action never runs`
    const suggestion = `write ${closest(text, STATUSES) ?? "pending"}; the statuses are ${STATUSES.join(", ")}`
    this.find({ code: "agent/status-unknown", severity: "warning", offset: this.offsetOf("status"), message, suggestion })
    return "other"
  }

  private retry(): Retry {
    const { attempts, delay } = this.given
    return {
      attempts: this.parsed("retry", attempts, attemptsOf),
      delay: this.parsed("retry_delay", delay, Retries.parseDelay),
      on: this.parsed<ReadonlyArray<string>>("retry_on", [], Retries.parseFailures)
    }
  }

  private dependsOn(): ReadonlyArray<string> {
    const found = field(this.block, "depends_on")
    const ids = found === undefined ? [] : [...new Set(listOf(found))]
    if (ids.length <= MAX_DEPENDENCIES) return ids
    const message = `The action has ${ids.length} dependencies, and ${MAX_DEPENDENCIES} are the limit`
    this.find({ code: "agent/field-invalid", offset: this.offsetOf("depends_on"), message, suggestion: "depend on a composite action" })
    return []
  }

  private condition(): Condition | undefined {
    const found = field(this.block, "condition")
    if (found === undefined || (found.value === "" && found.items.length === 0)) return undefined
    const condition = Conditions.parse(conditionText(this.block))
    const offset = found.valueSpan.start
    if (isRefusal(condition)) {
      this.find({ code: "agent/field-invalid", offset, message: condition.refused, suggestion: condition.suggestion })
      return undefined
    }
    const doubt = Conditions.doubt(condition)
    if (doubt === undefined) return condition
    const suggestion = "join the two with OR for a range over midnight"
    this.find({ code: "agent/condition-doubtful", severity: "warning", offset, message: doubt, suggestion })
    return condition
  }

  /** A time that cannot be read counts as absent: the ledger has the true one. */
  private record(zone: string): ActionRecord {
    const momentOf = (key: string): number | undefined => Moment.parse(this.text(key) ?? "", zone)
    return {
      lastRun: momentOf("last_run"),
      completedAt: momentOf("completed_at"),
      failedAt: momentOf("failed_at"),
      nextRetry: momentOf("next_retry"),
      retryCount: Number(/^(\d{1,3})(?:\/\d+)?$/.exec(this.text("retry_count") ?? "")?.[1] ?? 0)
    }
  }
}

const refuse = (refused: string, suggestion: string): Refusal => ({ refused, suggestion })

const zoneOf = (name: string): string | Refusal =>
  Zone.isZone(name) ? name : refuse(`The time zone "${name.slice(0, 100)}" is unknown`, "write a name such as UTC or Europe/Vienna")

const durationOf = (text: string): number | Refusal =>
  Duration.parse(text) ?? refuse(`The timeout "${text.slice(0, 100)}" is no duration`, "write a whole number with s, m or h, such as 30s")

const attemptsOf = (text: string): number | Refusal => {
  const attempts = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return attempts >= 1 && attempts <= Retries.MAX_ATTEMPTS
    ? attempts
    : refuse(`The number of attempts "${text.slice(0, 100)}" is not from 1 to ${Retries.MAX_ATTEMPTS}`, "write a number such as 3")
}

const booleanOf = (text: string): boolean | Refusal => {
  const lower = text.toLowerCase()
  if (lower === "true" || lower === "yes") return true
  if (lower === "false" || lower === "no") return false
  return refuse(`"${text.slice(0, 100)}" is neither true nor false`, "write true or false")
}

const slugOf = (name: string): string =>
  name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replace(/^-/, "").replace(/-$/, "").slice(0, 60) || "my-action"

const lineOf = ({ key, value }: Item): string => key === undefined ? value : `${key}: ${value}`

const conditionText = (block: Block): string => {
  const found = field(block, "condition")
  return found === undefined ? "" : found.items.length > 0 ? found.items.map(lineOf).join("\n") : found.value
}

/** Reads a list: nested items, or texts separated by commas. */
export const listOf = ({ items, value }: Field): ReadonlyArray<string> =>
  (items.length > 0 ? items.map(lineOf) : value.split(",")).map((part) => part.trim()).filter((part) => part !== "")

const paramsOf = ({ fields }: Block): ReadonlyMap<string, Parameter> => {
  const params = new Map<string, Parameter>()
  for (const { items, key, value } of fields) {
    const own = key === "params" ? items.filter((item) => item.key !== undefined) : []
    for (const item of own) put(params, item.key?.toLowerCase() ?? "", parameterOf(item.value, item.items))
    if (!ActionFields.COMMON.has(key)) put(params, key, parameterOf(value, items))
  }
  return params
}

const put = (params: Map<string, Parameter>, key: string, value: Parameter): void => {
  if (!params.has(key)) params.set(key, value)
}

const parameterOf = (value: string, items: ReadonlyArray<Item>): Parameter => {
  if (items.length === 0) return value
  const isMap = items.every(({ key }) => key !== undefined)
  return isMap ? new Map(items.map((item) => [item.key ?? "", item.value])) : items.map(lineOf)
}
