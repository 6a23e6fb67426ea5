/**
 * Channels: the parts of a runtime that talk to the world, one for each kind of I/O.
 *
 * A plugin provides channels, and a run addresses one by its id. The reactor gives a channel one job for each attempt of
 * a request, and captures the result of the job as input of a later beat [S3 §Fabric primitives].
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"
import type { Parts } from "../frame/Parts.ts"
import * as Errno from "./Errno.ts"

/** The hosts on which a channel can work. */
export type HostName = "node" | "deno" | "bun" | "workers"

/** Content that a job stored in its space. */
export interface Kept {
  /** The address of the content, `/cas/<sha256>`. */
  readonly address: string
  /** Its size in bytes. */
  readonly bytes: number
}

/**
 * One attempt of a request, as its channel executes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Job {
  /** The space of the request. */
  readonly space: string
  /** The id of the request. It is part of each message about the request. */
  readonly rid: string
  readonly opcode: string
  /** The arguments of the request. A channel validates them, and fails with `io/invalid` for invalid ones. */
  readonly payload: Value
  /** The idempotency key of the request, which is equal in all attempts, re-executions and redeliveries. */
  readonly key: string
  /** The time of the beat that made the request, in milliseconds since 1970. It is equal in all attempts and re-executions. */
  readonly issued: number
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /**
   * Aborted when the request is cancelled or times out, after the `timeoutMs` of the channel, and when the space closes. The
   * job stops all work then.
   */
  readonly signal: AbortSignal
  /**
   * Stores content in the space of the request, at most `limit` bytes; the default is 32 MiB. An abort of the job ends it,
   * also while no chunk arrives.
   */
  readonly keep: (bytes: Uint8Array | AsyncIterable<Uint8Array>, limit?: number) => Promise<Kept>
  /** Reads content of the space by its address; `undefined` if the space does not have it. */
  readonly content: (address: string) => Promise<Uint8Array | undefined>
  /**
   * The space as a frame, in pieces: its state at the newest durable beat when the first piece is asked for, with all labels. End
   * the generator to end the export, which may outlive the job. Absent in a runtime without the slice `archive`.
   */
  readonly frame?: ((parts: Parts) => AsyncGenerator<Uint8Array>) | undefined
}

/** A request, as a channel delays it. */
export type DelayedRequest = Pick<Job, "issued" | "opcode" | "payload" | "rid">

/** The result of a successful job. */
export interface JobResult {
  /**
   * The value of the completion, at most 1,048,576 characters as text; store more with `keep`. A value of more than 64 KiB is
   * stored as content by the reactor.
   */
  readonly value?: unknown
  /** The number of transferred bytes; by default the expected number of the request. */
  readonly bytes?: number
}

/** A signal that a channel makes of a message which arrives by itself. */
export interface InboundSignal {
  /** Its own id, `<channel>:<connection>:<n>`, under which a space takes it once. */
  readonly id: string
  readonly signal: string
  readonly payload: Value
}

/** The signals that a space took. */
export interface Taken {
  /** The number of the first ones that are durable. */
  readonly taken: number
  /**
   * The refusal of the one after them. The channel drops that one, offers it again after a wait, or closes the connection, whose space
   * is detached. A signal that is offered again with its id is handled once.
   */
  readonly refused?: { readonly then: "drop" | "wait" | "close"; readonly error: ChannelError }
}

/** The way from a channel into spaces, for messages which arrive by themselves. */
export interface Ingress {
  /** Whether a space takes such signals: a detached one does not, nor one that is being imported. */
  readonly admits: (space: string) => Promise<boolean>
  /** Has a space take signals in their order, with the label of the channel. Resolves once they are durable. */
  readonly take: (space: string, signals: ReadonlyArray<InboundSignal>) => Promise<Taken>
  /** Reports trouble with a connection or with its messages. */
  readonly report: (topic: "io/connection" | "io/inbound", note: string) => void
}

/** The declaration of one opcode. */
export interface OpcodeDeclaration {
  /** Whether a request in progress at the end of a process may be executed again, with the same key. Default: false. */
  readonly repeatable?: boolean
}

/** The definition of a channel. Every field except for `provider`, `opcodes`, `hosts` and `execute` has a default. */
export interface Definition {
  /** The name of the implementation, such as `fetch`. */
  readonly provider: string
  /** The opcodes that the channel executes. A request with another one is refused in its run. */
  readonly opcodes: { readonly [opcode: string]: OpcodeDeclaration }
  /** The hosts on which the channel works. A runtime on another host does not start with it. */
  readonly hosts: ReadonlyArray<HostName>
  /** Capabilities, shown with the channel, such as `stream` or `tls`. */
  readonly caps?: ReadonlyArray<string>
  /** The object of the channel, shown with it, such as the root of a file channel. */
  readonly target?: string
  /** Whether jobs block a thread of the host or run on a worker thread. Their completions are counted as those of a shim. */
  readonly shim?: boolean
  /** The most jobs in progress, for all spaces; the default is 64. */
  readonly jobs?: number
  /**
   * The longest time of a job, in milliseconds, at most 2,147,483,647; by default, a job has no limit of its own. After it, the
   * attempt fails with `io/timeout`, which is retryable, whether or not the job ends at its abort.
   */
  readonly timeoutMs?: number
  /** The time in which a job ends after its abort, in milliseconds; the default is 10,000. Then it is hung. */
  readonly abortMillis?: number
  /**
   * Executes a job. It resolves once, and throws a {@link ChannelError} or an error of the host. The reactor ignores all
   * that follows an abort.
   */
  readonly execute: (job: Job) => Promise<JobResult> | JobResult
  /**
   * The time before which a request for a repeatable opcode has no job, in milliseconds since 1970; `undefined` for one that is
   * executed at once, and so is one for which it throws. It follows from the request alone, so a restart continues the same
   * wait. The space may close meanwhile.
   */
  readonly notBefore?: (request: DelayedRequest) => number | undefined
  /**
   * Begins to take messages which arrive by themselves, once, when the spaces of the runtime run: under `systole dev`, `systole start`
   * and in an embedded runtime, and never on Workers.
   */
  readonly begin?: (ingress: Ingress) => void
  /** Releases the resources of the channel at the end of the process. */
  readonly close?: () => Promise<void>
}

/** The settings of a channel in the configuration. */
export interface Settings {
  /** The deadline of requests that have none, in beats or as a time such as `"10s"`. Default: none. */
  readonly budget?: number | string
  /** The atoms that data on the channel may have. Default: none, so only data without a label leaves. */
  readonly clearance?: ReadonlyArray<string>
  /** The atoms of the completions. */
  readonly label?: ReadonlyArray<string>
  /** An id under which the channel's counters appear; the default is the id of the channel. */
  readonly telemetry?: string
}

/** A channel of a runtime: a definition under an id, with its settings. */
export interface Channel extends Definition, Settings {
  readonly id: string
}

/**
 * A request failed. `errno` is the negative number of the host's error, or −5 (`EIO`).
 *
 * @category errors
 * @since 0.1.0
 */
export class ChannelError extends Data.TaggedError("ChannelError")<{
  readonly code: string
  readonly reason: string
  readonly errno: number
  readonly retryable: boolean
  /** The least wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}> {
  override get message() {
    return this.reason
  }
}

/**
 * A failure of a channel with a stable code, such as `http/refused`.
 *
 * @example An invalid argument
 * ```ts
 * import { Channel } from "systole"
 *
 * const error = Channel.fail("io/invalid", "the path ../x leaves the root; give one below it", { errno: -22 })
 * if (error.retryable) throw new Error("an invalid request does not succeed later")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (
  code: string,
  reason: string,
  { errno = -5, retryAfterMs, retryable = false }: {
    readonly errno?: number
    readonly retryable?: boolean
    readonly retryAfterMs?: number | undefined
  } = {}
): ChannelError => new ChannelError({ code, reason, errno, retryable, retryAfterMs })

/**
 * A failure with the number and the code of a host's error, such as `io/absent` for a missing file. A {@link ChannelError}
 * stays as it is. The reason replaces the message of the host, which may contain secrets.
 *
 * @example A missing file
 * ```ts
 * import { Channel } from "systole"
 *
 * const absent = Object.assign(new Error("no such file"), { code: "ENOENT" })
 * const { code, errno } = Channel.hostFailure(absent, "request 7: there is no file a.txt")
 * if (code !== "io/absent" || errno !== -2) throw new Error("a missing file is absent")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const hostFailure = (error: unknown, reason: string): ChannelError => {
  if (error instanceof ChannelError) return error
  const { code, errno, retryable } = Errno.of(error)
  return fail(code, reason, { errno, retryable })
}

/** The longest time of a timer, in milliseconds. */
const LONGEST = 2 ** 31 - 1

const channelId = /^[a-z0-9][a-z0-9_-]{0,62}$/
const opcodeName = /^[a-z0-9][a-z0-9_:.-]{0,62}$/

/** The reason for which a channel is refused, if any. */
export const refusal = (channel: Channel): string | undefined => {
  const { abortMillis = 0, begin, execute, hosts, id, jobs = 1, opcodes, provider, telemetry = id, timeoutMs = 1 } = channel
  if (!channelId.test(id)) return `the id ${JSON.stringify(id)} may hold a-z, 0-9, _ and -, and begins with a letter or a digit`
  if (typeof provider !== "string" || Name.refusal(provider) !== undefined) return "its provider is no name, such as fetch"
  if (Name.refusal(telemetry) !== undefined) return `its telemetry is ${JSON.stringify(telemetry)}; give a name such as ${id}`
  const wrong = Object.keys(opcodes ?? {}).find((opcode) => !opcodeName.test(opcode))
  if (wrong !== undefined) return `the opcode ${JSON.stringify(wrong)} may hold a-z, 0-9, _, -, . and :`
  if (Object.keys(opcodes ?? {}).length === 0) return "it has no opcode"
  if (!Array.isArray(hosts) || hosts.length === 0) return "it names no host on which it works"
  if (!Number.isSafeInteger(jobs) || jobs < 1) return `its limit of jobs is ${String(jobs)}; give a whole number from 1`
  if (!Number.isSafeInteger(abortMillis) || abortMillis < 0) {
    return `its abortMillis is ${String(abortMillis)}; give a whole number of milliseconds from 0`
  }
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LONGEST) {
    return `its timeoutMs is ${String(timeoutMs)}; give a whole number of milliseconds from 1 to ${LONGEST}`
  }
  if (begin !== undefined && typeof begin !== "function") return "its begin is not a function"
  return typeof execute === "function" ? undefined : "its execute is not a function"
}
