/**
 * The body of an answer, up to a limit of size.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The most bytes of an answer, and of one event of a stream. A value of a cell has at most half of it. */
export const MAX_BYTES = 67_108_864

/** An answer is longer than {@link MAX_BYTES}. */
export class AnswerTooLong extends Data.TaggedError("AnswerTooLong") {}

/**
 * Reads the bytes of a body. An abort ends the body at once.
 *
 * @throws AnswerTooLong
 */
export const read = async ({ body }: Response, signal: AbortSignal): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  if (body === null) return new Uint8Array()
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", cancel)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      size += value.byteLength
      if (size > MAX_BYTES) throw new AnswerTooLong()
    }
  } finally {
    signal.removeEventListener("abort", cancel)
    // The rest of a body is not taken.
    cancel()
  }
  return joined(chunks, size)
}

const joined = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
