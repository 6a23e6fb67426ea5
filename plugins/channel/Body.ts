/**
 * Bytes of payloads and results: a text, bytes, or content of the space.
 *
 * @module
 */
import { Channel } from "systole"
import * as Fields from "./Fields.ts"
import * as Operations from "./Operations.ts"

/** The fields of a payload with bytes, of which one is given. */
export const fields = {
  text: Fields.optional(Fields.text(2 ** 24)),
  data: Fields.optional(Fields.bytes),
  content: Fields.optional(Fields.address)
}

/** Bytes as a payload has them. */
export type Body = Fields.Of<typeof fields>

/** Whether a payload has bytes at all. */
export const isGiven = ({ content, data, text }: Body): boolean => [content, data, text].some((each) => each !== undefined)

/** The bytes of a payload: one of `text`, `data` and `content`. */
export const bytesOf = async ({ content, data, text }: Body, job: Channel.Job): Promise<Uint8Array> => {
  const given = [content, data, text].filter((each) => each !== undefined)
  if (given.length !== 1) throw Fields.invalid(job, "give one of text, data and content")
  const bytes = data ?? (text === undefined ? await job.content(content ?? "") : new TextEncoder().encode(text))
  if (bytes === undefined) throw Channel.fail("io/absent", `the space has no content ${content}`, { errno: -2 })
  return bytes
}

/** Decodes UTF-8; `undefined` for other bytes. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A result with bytes: `text` within a completion if it is UTF-8 of at most 64 KiB, else the address `content`. */
export const result = async (head: object, bytes: Uint8Array, job: Channel.Job): Promise<Channel.JobResult> => {
  const inline = { ...head, text: textOf(bytes) }
  if (inline.text !== undefined && Operations.isInline(inline)) return { value: inline, bytes: bytes.length }
  return { value: { ...head, content: (await job.keep(bytes)).address }, bytes: bytes.length }
}
