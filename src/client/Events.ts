/**
 * Server-sent events: the bytes of a stream as events.
 *
 * @module
 */
import { foreign } from "./RequestFailed.ts"

/** An event of a stream. */
export interface StreamEvent {
  /** The id of the newest event that had one; empty before. A stream goes on after it. */
  readonly id: string
  readonly event: string
  /** Its data as JSON. */
  readonly data: unknown
}

/** Reads the next bytes of a stream. */
export type Read = () => ReturnType<ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>["read"]>

/** The most characters of one event. */
const MAX = 33_554_432

const END = "\n\n"

/**
 * The events in the bytes of a stream. One ends with an empty line.
 *
 * @category combinators
 * @since 0.2.0
 */
export async function* events(read: Read): AsyncGenerator<StreamEvent, void> {
  const utf8 = new TextDecoder()
  let [id, text] = ["", ""]
  for (;;) {
    const { done, value } = await read()
    if (done) return
    let from = Math.max(0, text.length - 1)
    text += utf8.decode(value, { stream: true })
    for (let end = text.indexOf(END, from); end >= 0; end = text.indexOf(END, from = 0)) {
      const event = eventOf(text.slice(0, end), id)
      text = text.slice(end + END.length)
      if (event === undefined) continue
      id = event.id
      yield event
    }
    if (text.length > MAX) throw foreign(200)
  }
}

/** The event of a block of lines; `undefined` for a comment. */
const eventOf = (block: string, last: string): StreamEvent | undefined => {
  const fields = new Map(block.split("\n").map((line) => {
    const colon = line.indexOf(": ")
    return [line.slice(0, colon), line.slice(colon + 2)]
  }))
  const [event, data] = [fields.get("event"), fields.get("data")]
  if (event === undefined || data === undefined) return undefined
  try {
    return { id: fields.get("id") ?? last, event, data: JSON.parse(data) }
  } catch {
    throw foreign(200)
  }
}
