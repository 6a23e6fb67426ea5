/**
 * The names of fields: those that each action has, and those that the types of the agent read.
 *
 * @module
 */
import { distance } from "../text/Suggestion.ts"

/** A parameter of an action: a text, a list, or a nested map of texts. */
export type Parameter = string | ReadonlyArray<string> | ReadonlyMap<string, string>

/** The fields that only the agent writes. */
export const RECORDED: ReadonlySet<string> = new Set([
  "started_at", "completed_at", "failed_at", "skipped_at", "last_run", "next_retry", "retry_count", "duration", "result", "error"
])

/** The forms of the values of a field: a text; a list of texts; a table of names and texts. */
export type Form = "text" | "list" | "table"

/** The fields that each type shares, with the forms of their values. */
export const COMMON: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...[
    "id", "type", "status", "schedule", "timezone", "retry", "retry_delay", "retry_on", "timeout", "on_failure", "capture_output",
    "output_file", ...RECORDED
  ].map((key) => [key, "text"] as const),
  ["depends_on", "list"],
  ["condition", "list"],
  ["params", "table"]
])

/**
 * A type of the agent: the fields that it reads, with their forms; the ones that it needs, of each list one; the words that a field
 * may have as its value; and the channel that it asks.
 */
export interface TypeFields {
  readonly fields: Readonly<{ [key: string]: Form }>
  readonly needed: ReadonlyArray<ReadonlyArray<string>>
  readonly words?: Readonly<{ [key: string]: ReadonlyArray<string> }>
  readonly channel?: string
}

const http: TypeFields = {
  fields: { url: "text", target: "text", method: "text", headers: "table", body: "text", expect_status: "text", expect_body: "text" },
  needed: [["url", "target"]],
  channel: "http"
}

const types: Readonly<{ [type: string]: TypeFields }> = {
  shell: { fields: { command: "text", working_dir: "text", env: "table" }, needed: [["command"]], channel: "shell" },
  http,
  http_check: http,
  file: {
    fields: { operation: "text", source: "text", target: "text", content: "text", pattern: "text", older_than: "text" },
    needed: [["operation"]],
    words: { operation: ["read", "write", "delete", "copy", "move"] },
    channel: "file"
  },
  agent: {
    fields: { prompt: "text", model: "text", max_tokens: "text", tools: "list", context_files: "list" },
    needed: [["prompt"]]
  },
  notify: {
    fields: { channel: "text", target: "text", url: "text", message: "text" },
    needed: [["channel"]],
    words: { channel: ["webhook", "slack", "discord", "signed"] },
    channel: "http"
  },
  composite: {
    fields: { actions: "list", mode: "text", fail_fast: "text" },
    needed: [["actions"]],
    words: { mode: ["sequential", "parallel"] }
  },
  signal: {
    fields: { signal: "text", target: "text", payload: "text", wait: "text" },
    needed: [["signal"]],
    words: { wait: ["true", "false"] }
  }
}

/** The types of the agent. A plugin may add others, whose fields are unknown. */
export const TYPES: ReadonlyMap<string, TypeFields> = new Map(Object.entries(types))

/** The form of the value of a field that an action of a type reads; `undefined` for any other field. */
export const formOf = (type: string, key: string): Form | undefined => {
  const { fields = {} } = TYPES.get(type) ?? {}
  return COMMON.get(key) ?? (Object.hasOwn(fields, key) ? fields[key] : undefined)
}

/** The remedies for names that people write for others, which a type of the agent does not read. */
const others: Readonly<{ [name: string]: string }> = {
  after: "depends_on", needs: "depends_on", depends: "depends_on", requires: "depends_on", dependencies: "depends_on",
  retries: "retry", attempts: "retry", max_attempts: "retry", max_retries: "retry",
  cron: "schedule: cron:…", every: "schedule: every:…", interval: "schedule: every:…",
  daily: "schedule: daily:…", at: "schedule: at:…",
  on_change: "schedule: on_change:…", watch: "schedule: on_change:…",
  when: "condition", if: "condition", only_if: "condition",
  tz: "timezone", zone: "timezone",
  cmd: "command", run: "command", script: "command", exec: "command",
  cwd: "working_dir", dir: "working_dir", directory: "working_dir", workdir: "working_dir", working_directory: "working_dir",
  environment: "env", variables: "env", vars: "env",
  uri: "url", endpoint: "url", header: "headers",
  output: "output_file", log_file: "output_file",
  enabled: "status: paused", disabled: "status: paused", paused: "status: paused",
  priority: "### [HIGH] NAME as the heading",
  shell: "a script as the command, because no shell runs"
}

const OTHERS: ReadonlyMap<string, string> = new Map(Object.entries(others))

/** The names of fields that people write, by type. */
const written = new Map<string, ReadonlyArray<string>>()

/** The names of the fields that a person writes in an action of a type. */
export const namesOf = (type: string): ReadonlyArray<string> => {
  const key = TYPES.has(type) ? type : ""
  const found = written.get(key) ??
    [...COMMON.keys(), ...Object.keys(TYPES.get(key)?.fields ?? {})].filter((name) => !RECORDED.has(name))
  written.set(key, found)
  return found
}

/** The letters of a name, without its separators and signs that are not shown. */
const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[\s_\-\p{Cf}]/gu, "")

/** The lengths of known names from which on one and two edits are a slip. */
const [ONE, TWO] = [4, 8]

/** Whether a name is nearly another one. */
const isSlip = (letters: string, known: string): boolean => {
  const edits = known.length >= TWO ? 2 : known.length >= ONE ? 1 : 0
  return Math.abs(known.length - letters.length) <= edits && distance(letters, known) <= edits
}

/** The longer ones of other names, which may have slips. */
const long = [...OTHERS.keys()].filter((name) => lettersOf(name).length >= TWO)

/** The longest name that is compared with others. */
const MAX_NAME = 40

/**
 * The remedy for a name that is nearly the name of a field of a type, or that has the meaning of one; `undefined` for others.
 */
export const remedyOf = (type: string, name: string): string | undefined => {
  if (name.length > MAX_NAME) return undefined
  const known = namesOf(type)
  const letters = lettersOf(name)
  const spelled = known.find((each) => lettersOf(each) === letters) ?? known.find((each) => isSlip(letters, lettersOf(each)))
  const word = name.toLowerCase().replaceAll(/[\s-]/g, "_")
  const other = TYPES.has(type)
    ? OTHERS.get(word) ?? OTHERS.get(long.find((each) => isSlip(letters, lettersOf(each))) ?? "")
    : undefined
  if (other === undefined) return spelled
  const [field = ""] = other.split(":")
  return known.includes(field) || !/^[a-z_]+$/.test(field) ? other : spelled
}

/** The channel by which a signed message leaves. */
const SIGNED = "webhook-out"

/**
 * The channels that an action of the agent asks. Those of a type of a plugin are unknown.
 */
export const channelsOf = ({ outputFile, params, type }: {
  readonly type: string
  readonly outputFile: string | undefined
  readonly params: ReadonlyMap<string, unknown>
}): ReadonlyArray<string> => {
  const own = type === "notify" && params.get("channel") === "signed" ? SIGNED : TYPES.get(type)?.channel
  return [...new Set([...own === undefined ? [] : [own], ...outputFile === undefined ? [] : ["file"]])]
}
