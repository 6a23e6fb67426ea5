/**
 * Outputs of earlier actions in texts: `${output:<id>}`.
 *
 * @module
 */

const [BEGIN, END] = ["${output:", "}"]

/** The most characters of a text with its outputs: each of its references may stand for a whole output. */
export const MAX_TEXT = 1_048_576

/** A reference in a text, from its beginning to the character after its end. */
interface Reference {
  readonly id: string
  readonly from: number
  readonly to: number
}

/** The references of a text, in order. A beginning without an end is none, and no later one has an end. */
const all = (text: string): ReadonlyArray<Reference> => {
  const found: Array<Reference> = []
  for (let from = text.indexOf(BEGIN); from >= 0; from = text.indexOf(BEGIN, found.at(-1)!.to)) {
    const end = text.indexOf(END, from)
    if (end < 0) break
    found.push({ id: text.slice(from + BEGIN.length, end).trim(), from, to: end + END.length })
  }
  return found
}

/**
 * The actions that a text refers to, in order, each once.
 */
export const references = (text: string): ReadonlyArray<string> => [...new Set(all(text).map(({ id }) => id))]

/**
 * A text with the outputs of actions in the place of the references to them; `undefined` if it would be longer than
 * {@link MAX_TEXT}. An output itself is never searched.
 */
export const insert = (text: string, outputOf: (id: string) => string): string | undefined => {
  const parts: Array<string> = []
  let [length, end] = [0, 0]
  const add = (part: string): boolean => {
    parts.push(part)
    length += part.length
    return length <= MAX_TEXT
  }
  for (const { from, id, to } of all(text)) {
    if (!add(text.slice(end, from)) || !add(outputOf(id))) return undefined
    end = to
  }
  return add(text.slice(end)) ? parts.join("") : undefined
}
