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
 */
export async function* events(read: Read): AsyncGenerator<StreamEvent, void> {
  const utf8 = new TextDecoder()
  let id = ""
  // The parts of an event are joined once, at its end: a text that grows would be copied for each part.
  let parts: Array<string> = []
  let size = 0
  // A line break at the end of a part may be the first of the two that end an event, so it is read with the next part.
  let held = ""
  for (;;) {
    const { done, value } = await read()
    if (done) return
    const text = held + utf8.decode(value, { stream: true })
    let from = 0
    for (let end = text.indexOf(END); end >= 0; end = text.indexOf(END, from)) {
      const event = eventOf(parts.join("") + text.slice(from, end), id)
      from = end + END.length
      parts = []
      size = 0
      if (event === undefined) continue
      id = event.id
      yield event
    }
    held = text.length > from && text.endsWith("\n") ? "\n" : ""
    const part = text.slice(from, text.length - held.length)
    if (part !== "") parts.push(part)
    size += part.length
    if (size > MAX) throw foreign(200)
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
