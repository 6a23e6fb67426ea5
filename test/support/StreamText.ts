/**
 * The text of a stream, read as far as a test needs it.
 *
 * @module
 */

/** A reader of a stream of text. */
type Reader = Pick<ReadableStreamDefaultReader<string>, "read">

/** Reads on until the text has a part, and gives all of it, after what was read before. Rejects when the stream ends earlier. */
export const until = async (reader: Reader, part: string | RegExp, before = ""): Promise<string> => {
  const has = typeof part === "string" ? (text: string) => text.includes(part) : (text: string) => part.test(text)
  let text = before
  while (!has(text)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The stream ended before ${part}, after ${JSON.stringify(text)}`)
    text += value
  }
  return text
}
