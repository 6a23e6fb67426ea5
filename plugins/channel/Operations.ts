/**
 * A channel as a table of operations, one for each opcode.
 *
 * @module
 */
import { Channel, Document } from "systole"
import * as Fields from "./Fields.ts"

/** An operation: its fields, its object for messages, and its execution. */
export interface Operation<S extends Fields.Shape> extends Channel.OpcodeDeclaration {
  readonly fields: S
  /** The object of a request, for messages, such as its path. It contains no secret. */
  readonly about: (payload: Fields.Of<S>) => string
  readonly execute: (payload: Fields.Of<S>, job: Channel.Job) => Promise<Channel.JobResult> | Channel.JobResult
}

/** The operations of a channel, by opcode. */
export type Operations = Readonly<Record<string, Executable>>

interface Executable extends Channel.OpcodeDeclaration {
  readonly run: (job: Channel.Job) => Promise<Channel.JobResult>
}

/** The longest text of a value within a completion, in characters. The reactor stores a longer one as content. */
export const INLINE = 65_536

/** Tests whether a completion can contain a value. */
export const isInline = (value: unknown): boolean => Document.encode(value).text.length <= INLINE

/** The code of a host's error, or its name. */
const nameOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === "string" ? code : String(name ?? "an unknown error")
}

/** The failure for an error of an operation. Its message contains the id of the request. */
const failure = (error: unknown, { opcode, rid }: Channel.Job, about: string): Channel.ChannelError => {
  if (!(error instanceof Channel.ChannelError)) {
    return Channel.hostFailure(error, `Request ${rid}: ${opcode} ${about} failed with ${nameOf(error)}`)
  }
  const { code, reason, ...kind } = error
  return reason.includes(rid) ? error : Channel.fail(code, `Request ${rid}: ${reason}`, kind)
}

/** The failure of an aborted job: the reason of its abort. An error that follows from the abort tells less. */
const aborted = ({ reason }: AbortSignal): unknown =>
  reason instanceof Channel.ChannelError ? reason : Channel.fail("io/cancelled", "it was cancelled", { errno: -125 })

/** Makes an operation. Errors of the host become failures with the id of the request. */
export const operation = <S extends Fields.Shape>({ about, execute, fields, repeatable = false }: Operation<S>): Executable => ({
  repeatable,
  run: async (job) => {
    const payload = Fields.payload(fields, job)
    try {
      job.signal.throwIfAborted()
      return await execute(payload, job)
    } catch (error) {
      throw failure(job.signal.aborted ? aborted(job.signal) : error, job, about(payload))
    }
  }
})

/** The opcodes of a channel and its execution, from its operations. */
export const channel = (operations: Operations): Pick<Channel.Definition, "opcodes" | "execute"> => ({
  opcodes: Object.fromEntries(Object.entries(operations).map(([opcode, { repeatable = false }]) => [opcode, { repeatable }])),
  execute: async (job) => {
    const found = Object.hasOwn(operations, job.opcode) ? operations[job.opcode] : undefined
    if (found === undefined) throw Fields.invalid(job, `the channel has the opcodes ${Object.keys(operations).join(", ")}`)
    return found.run(job)
  }
})
