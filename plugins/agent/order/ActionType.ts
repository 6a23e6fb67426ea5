/**
 * Types of actions: durable enzymes that run orders.
 *
 * A type is an enzyme, so a plugin adds one as it adds any enzyme. The journal names its code, and a replay needs nothing
 * else. {@link make} gives it the protocol: the record of the attempt, the time limit, outputs, and the end.
 *
 * @module
 */
import * as Result from "effect/Result"
import { Document, endCodes, Enzyme, type EventEnd, type IoResult, type SignalRequest, type Transaction } from "systole"
import { Duration } from "systole/time"
import * as CommandLine from "../text/CommandLine.ts"
import { ENDED, type Fields, isAwaited, Order, permit, signal } from "./Order.ts"
import * as Outputs from "../text/Outputs.ts"
import * as Record from "./Record.ts"

/** The most characters of a result or an error in a record. */
const LINE = 500

/** The most characters of an output in a record. The end of a longer one is dropped. */
export const OUTPUT = 65_536

/** The answer over HTTP, or the program, that fails an attempt. */
export interface FailedAnswer {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  /** The error output of the program. */
  readonly stderr?: string | undefined
}

/**
 * An attempt failed. `code` is stable, such as `agent/field`.
 *
 * @category errors
 * @since 0.1.0
 */
export class ActionFailed extends Error {
  override readonly name = "ActionFailed"
  readonly code: string
  /** The status of an answer over HTTP, for `retry_on: status:5xx`. */
  readonly status: number | undefined
  /** The wait in milliseconds that the answer asks for before the next attempt. */
  readonly retryAfterMs: number | undefined
  /** The error output of a program, whose last lines the history keeps. */
  readonly stderr: string | undefined

  constructor(code: string, message: string, { retryAfterMs, status, stderr }: FailedAnswer = {}) {
    super(message)
    this.code = code
    this.stderr = stderr
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The failure of an action with an invalid field.
 *
 * @category constructors
 * @since 0.1.0
 */
export const invalid = (message: string): ActionFailed => new ActionFailed("agent/field", message)

/** The end of a completed attempt. */
export interface Done {
  /** One line for the control file, such as `OK (200)`. */
  readonly result: string
  /** A text, kept if the action has `capture_output` or `output_file`. A function is called only if the text is needed. */
  readonly output?: string | (() => string)
  /** The address of the content that has the whole output, where there is one. */
  readonly content?: string
  /** Whether the end of the output is lost. */
  readonly isCut?: boolean
}

/**
 * An attempt in progress, as a type sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempt {
  readonly tx: Transaction
  readonly order: Order
  /** The text of a field, as it is written; "" if it is absent. */
  readonly raw: (name: string) => string
  /** The text of a field with the outputs of earlier actions; "" if it is absent. */
  readonly text: (name: string) => string
  /** The entries of a table with the outputs of earlier actions. */
  readonly table: (name: string) => Readonly<{ [key: string]: string }>
  /** A text with the outputs of earlier actions. */
  readonly insert: (text: string) => string
  /** The present time by the clock of the wake, which may be behind that of the beats. */
  readonly now: () => number
  /** Keeps the progress of a composite action, which its record tells at the end of the attempt. */
  readonly keep: (progress: Record.Progress) => void
  /** Asks a channel, within the time that the attempt has left. */
  readonly request: (channel: string, opcode: string, payload: unknown) => Promise<unknown>
  /** Sends an event, and waits for its end within the time that the attempt has left. Returns its id. */
  readonly send: (request: SignalRequest) => Promise<string>
}

/**
 * The definition of a type.
 *
 * @category models
 * @since 0.1.0
 */
export interface Definition {
  /** The type as a control file names it, such as `http`. */
  readonly type: string
  readonly run: (attempt: Attempt) => Promise<Done> | Done
}

const cut = (text: string, limit: number): string => text.length <= limit ? text : `${text.slice(0, limit - 1)}…`

// oxlint-disable-next-line no-control-regex
const line = (text: string): string => cut(text.replaceAll(/[\s\u0000-\u001f\u007f]+/g, " ").trim(), LINE)

/** The output of an earlier action in the same file. */
const outputOf = (tx: Transaction, file: string) => (id: string): string => {
  const found = Record.read(tx.get(Record.cell(file, id)))
  if (found === undefined) throw new ActionFailed("agent/output-absent", `\${output:${id}}: the action ${id} has never run`)
  if (found.output === undefined) {
    const reason = found.status === "completed" ? "keeps no output; give it capture_output: true" : `is ${found.status}`
    throw new ActionFailed("agent/output-absent", `\${output:${id}}: the action ${id} ${reason}`)
  }
  return found.output
}

/** The beginning of a message about a request, before the reason that its channel gave. */
const REQUEST = /^request \S{1,256} \(\S{1,256} \S{1,256}\) ended with \w{1,64} \([^)]{0,256}\): (?:Request \S{1,256}: )?/

/** The codes of time-outs of channels. */
const TIMED_OUT = /^(?!agent\/).*\/timeout$/

/** The most lines and characters of the end of an error output that a record keeps. */
const [TAIL_LINES, TAIL] = [10, 1_000]

/** The last lines of an error output, without control characters. */
const tailOf = (text: string): string => {
  const lines = text.slice(-TAIL * 4).split(/\r?\n|\r/).map(line).filter((each) => each !== "")
  return lines.slice(-TAIL_LINES).join("\n").slice(-TAIL)
}

const failureOf = (error: unknown): NonNullable<Record.Record["failure"]> => {
  const { code, message, retryAfterMs, status, stderr } = (error ?? {}) as Readonly<{ [name: string]: unknown }>
  const tail = typeof stderr === "string" ? tailOf(stderr) : ""
  const text = typeof message === "string" ? message : String(error)
  return {
    code: typeof code === "string" ? code : "agent/failed",
    message: line(`${typeof code === "string" && TIMED_OUT.test(code) ? "timed out: " : ""}${text.replace(REQUEST, "")}`),
    ...typeof status === "number" ? { status } : {},
    ...typeof retryAfterMs === "number" ? { retryAfterMs } : {},
    ...tail === "" ? {} : { stderr: tail }
  }
}

const attemptOf = (tx: Transaction, order: Order, keep: Attempt["keep"]): Attempt => {
  const start = tx.now
  const until = start + order.timeoutMs
  const raw = (name: string): string => {
    const value = Object.hasOwn(order.fields, name) ? order.fields[name] : undefined
    return typeof value === "string" ? value : ""
  }
  const insert = (text: string): string => {
    const whole = Outputs.insert(text, outputOf(tx, order.file))
    if (whole !== undefined) return whole
    throw invalid(`a field with its outputs is longer than ${Outputs.MAX_TEXT} characters. Refer to fewer or shorter outputs`)
  }
  return {
    tx,
    order,
    keep,
    raw,
    insert,
    now: () => (order.at ?? start) + tx.now - start,
    text: (name) => insert(raw(name)),
    table: (name) => {
      const value = Object.hasOwn(order.fields, name) ? order.fields[name] : undefined
      return typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, insert(text)])) : {}
    },
    request: async (channel, opcode, payload) => {
      const timeoutMs = until - tx.now
      if (timeoutMs < 1) throw new ActionFailed("io/timeout", `its timeout was over before it asked ${channel} ${opcode}`)
      const request = { channel, opcode, payload, timeoutMs, attempts: 1 }
      const { value }: IoResult = await tx.io.request(request)
      return value
    },
    send: async (request) => {
      const id = tx.signal(request)
      const [ended, limit] = [tx.waitForEvent(id), tx.sleep(Math.max(0, until - tx.now))]
      const end = await Promise.race([ended, limit.then(() => undefined)])
      if (end === undefined) throw unended(id, order.timeoutMs)
      limit.cancel()
      if (end.status === "handled") return id
      throw failedEvent(end, request)
    }
  }
}

/** The failure of an attempt whose event has not ended in time. The event goes on by itself. */
const unended = (id: string, timeoutMs: number): ActionFailed =>
  new ActionFailed("io/timeout", `its event ${id} had not ended within ${timeoutMs} ms. It goes on; wait: false waits for no end`)

/** The failure of an attempt by the end of its event. */
const failedEvent = ({ code = "", enzyme, id, status }: EventEnd, { signal, target }: SignalRequest): ActionFailed => {
  const place = [signal, target].filter((each) => each !== undefined).join(" at ")
  switch (status) {
    case "dead":
      return new ActionFailed(code, `its event ${id} was given up by ${enzyme} (${code}); systole dead tells why`)
    case "cycle":
      return new ActionFailed(endCodes.cycle, `no enzyme takes ${place}, because before and after of its enzymes contradict each other`)
    case "discarded":
      return new ActionFailed(endCodes.discarded, `a rollback dropped its event ${id}`)
    default:
      return new ActionFailed(endCodes["no-match"], `no enzyme takes ${place}`)
  }
}

/** The part of a record about a completed attempt. */
type Kept = Pick<Record.Record, "output" | "result">

/** Writes the whole output into the file of `output_file`, and returns what the record keeps, which tells what is cut. */
const keepOutput = async ({ raw, request }: Attempt, { content, isCut = false, output, result }: Done): Promise<Kept> => {
  const [path, isCaptured] = [raw("output_file"), isTrue(raw("capture_output"))]
  if (output === undefined || (path === "" && !isCaptured)) return { result: line(result) }
  const textOf = (): string => typeof output === "string" ? output : output()
  if (path !== "") await request("file", "write", { path, ...content === undefined ? { text: textOf() } : { content } })
  const text = isCaptured ? textOf() : ""
  const cuts = [
    ...isCut ? ["the end of its output is lost"] : [],
    ...text.length > OUTPUT ? [`capture_output keeps ${OUTPUT} of ${text.length} characters`] : []
  ]
  return { result: line([result, ...cuts].join("; ")), ...isCaptured ? { output: cut(text, OUTPUT) } : {} }
}

/** The results of runs that leave no record: nobody gave the order, or the wake gave the run up. */
const REFUSED = "refused: no wake gave this order"
const SUPERSEDED = "superseded: the wake gave this attempt up"

/**
 * Whether an order is the latest one that was given for the action, and has no other run. Two processes may give the same order at
 * different times.
 */
const isPermitted = (tx: Transaction, order: Order, event: string): boolean => {
  const { action, file } = order
  const given = tx.get(permit(file, action))
  if (Document.encode({ ...given as object, at: 0 }).text !== Document.encode({ ...order, at: 0 }).text) return false
  const record = Record.read(tx.get(Record.cell(file, action)))
  return !Record.isOf(record, order) || record.event === event
}

/**
 * Whether a field is `true` or `yes`, in any letter case.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isTrue = (text: string): boolean => /^\s*(?:true|yes)\s*$/i.test(text)

/**
 * Makes the enzyme of a type, `agent_<type>`. An error of `run` is a failed attempt.
 *
 * @example A type of one's own
 * ```ts
 * import { ActionType, Plugin } from "systole"
 *
 * export default Plugin.make({
 *   name: "greetings",
 *   version: "1.0.0",
 *   provides: {},
 *   enzymes: [ActionType.make({ type: "greet", run: ({ text }) => ({ result: `Hello, ${text("name")}` }) })]
 * })
 * ```
 *
 * @throws InvalidEnzyme
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ run, type }: Definition): Enzyme.Enzyme => Enzyme.make({
  name: `agent_${type}`,
  query: signal(type),
  payload: Order,
  writes: ["/data/agent/**"],
  durable: true,
  run: async (tx, { id, payload: order }) => {
    const { action, at, attempt, attempts, digest, file, occurrence, pendings } = order
    const cell = Record.cell(file, action)
    if (!isPermitted(tx, order, id)) return REFUSED
    const begun = {
      action, event: id, occurrence, attempt, attempts, pendings, startedAt: tx.now,
      ...at === undefined ? {} : { at },
      ...digest === undefined ? {} : { digest },
      ...order.isMember === true ? { isMember: true } : {}
    }
    let progress: Record.Progress | undefined
    tx.set(cell, { ...begun, status: "running" })
    const end = (fields: Omit<Record.Record, keyof typeof begun>): string => {
      const last = Record.read(tx.get(cell))
      if (last?.event !== id || last.status !== "running") return SUPERSEDED
      const record = { ...begun, finishedAt: tx.now, ...fields, ...progress === undefined ? {} : { progress } }
      const { output: _, progress: __, ...kept } = record
      const history = `${Record.history(file)}/${action}`
      tx.set(cell, record)
      tx.set(history, Record.append(tx.get(history), kept))
      if (isAwaited(order)) tx.signal({ signal: ENDED, target: cell })
      return fields.status
    }
    try {
      const made = attemptOf(tx, order, (each) => progress = each)
      const kept = await keepOutput(made, await run(made))
      return end({ status: "completed", ...kept })
    } catch (error) {
      return end({ status: "failed", failure: failureOf(error) })
    }
  }
})

/**
 * The words of a command line, by the quoting rules of POSIX and without any expansion.
 *
 * @throws ActionFailed
 * @category getters
 * @since 0.1.0
 */
export const words = (command: string): ReadonlyArray<string> => {
  const found = CommandLine.split(command)
  if (Result.isSuccess(found)) return found.success
  throw new ActionFailed("agent/command", `The command ${JSON.stringify(cut(command, 200))} is refused: ${found.failure}`)
}

/**
 * The milliseconds of a duration such as `30s`, `5m`, `1h` or `2d`.
 *
 * @throws ActionFailed
 * @category getters
 * @since 0.1.0
 */
export const duration = (text: string): number => {
  const found = Duration.parse(text)
  if (found === undefined) throw invalid(`${JSON.stringify(cut(text, 100))} is no duration. Write one such as 30s, 5m, 1h or 2d`)
  return found
}

/**
 * Runs a member of a composite action, and returns its record. Its permit comes with its signal, so that
 * nobody runs a member that the action leaves out. The record tells the end: a signal of its end is only a reason to look.
 *
 * @category combinators
 * @since 0.1.0
 */
export const runMember = async ({ now, tx }: Attempt, given: Order): Promise<Record.Record> => {
  const member = { ...given, at: now() }
  const cell = Record.cell(member.file, member.action)
  tx.hear(ENDED, cell)
  tx.set(permit(member.file, member.action), member)
  tx.signal({ signal: signal(member.type), payload: member })
  for (;;) {
    await tx.waitForSignal(ENDED, cell)
    const record = Record.read(tx.get(cell))
    if (Record.isOf(record, member) && record.status !== "running") return record
  }
}

export type { Fields, Order }
