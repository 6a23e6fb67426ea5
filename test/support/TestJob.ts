/**
 * Jobs of channels for tests without a reactor.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { Channel, type Value } from "systole"
import * as Bytes from "../../src/cell/Bytes.ts"
import { type JobOutcome, JobQueue } from "../../src/reactor/JobQueue.ts"

/** A job with the content of its space, and its abort. */
export interface TestJob extends Channel.Job {
  /** The content of the space, by address. */
  readonly contents: Map<string, Uint8Array>
  readonly abort: (reason?: unknown) => void
}

/** The fields of a job that a test sets. */
export type Fields = Partial<Pick<Channel.Job, "space" | "rid" | "key" | "issued" | "attempt">> & {
  readonly contents?: Map<string, Uint8Array>
}

/** The limit of kept content in bytes, if a job gives none. */
const KEPT = 33_554_432

const addressOf = (bytes: Uint8Array): string => `/cas/${createHash("sha256").update(bytes).digest("hex")}`

/** Adds bytes to the content of a space, and returns their address. */
export const add = (contents: Map<string, Uint8Array>, bytes: Uint8Array): string => {
  const address = addressOf(bytes)
  contents.set(address, bytes.slice())
  return address
}

const collect = async (source: Uint8Array | AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  for await (const part of source instanceof Uint8Array ? [source] : source) {
    size += part.byteLength
    if (size > limit) throw Channel.fail("io/size", `the content has more than ${limit} bytes`)
    parts.push(part.slice())
  }
  return Bytes.concat(parts)
}

/** A first attempt of a request with the id `R1`. */
export const make = (opcode: string, payload: Value, { contents = new Map<string, Uint8Array>(), ...fields }: Fields = {}): TestJob => {
  const controller = new AbortController()
  return {
    space: "shop",
    rid: "R1",
    key: "key-1",
    issued: 1_000_000,
    attempt: 1,
    ...fields,
    opcode,
    payload,
    contents,
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    keep: async (source, limit = KEPT) => {
      const bytes = await collect(source, limit)
      return { address: add(contents, bytes), bytes: bytes.byteLength }
    },
    content: async (address) => contents.get(address)
  }
}

/** Executes a job within the time of its channel. Its failures are rejections, also those that `execute` throws at once. */
export const run = (channel: Channel.Definition, job: TestJob): Promise<Channel.JobResult> =>
  new Promise((resolve, reject) => {
    const after = (millis: number, tell: () => void) => {
      const timer = setTimeout(tell, millis)
      return () => clearTimeout(timer)
    }
    const done = (outcome: JobOutcome): void => "error" in outcome ? reject(outcome.error) : resolve(outcome.result)
    const waiting = [{ make: () => job, abort: job.abort, done }]
    const source = { get size() { return waiting.length }, take: () => waiting.shift() }
    new JobQueue({ ...channel, id: "tested" }, { after, report: () => {}, failed: reject }).offer(source)
  })

/** The failure of a job, with the message of the host for an error of the host. Rejects if the job succeeds. */
export const failure = async (channel: Channel.Definition, job: TestJob): Promise<Channel.ChannelError> => {
  const result = await run(channel, job).catch((error: unknown) =>
    Channel.hostFailure(error, error instanceof Error ? error.message : String(error)))
  if (result instanceof Channel.ChannelError) return result
  throw new Error(`the request ${job.rid} succeeded with ${JSON.stringify(result.value)}`)
}
