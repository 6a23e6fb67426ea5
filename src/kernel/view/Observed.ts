/**
 * Observations, which subscribers share.
 *
 * @module
 */
import type { Path } from "../../cell/Address.ts"
import * as Codec from "../../cell/Document.ts"
import type { Observation } from "./Space.ts"

/** The texts of observations that do not know theirs, each made once for all subscribers. */
const texts = new WeakMap<Observation, string>()

/**
 * An observation of a document with a mutable value. Subscribers share the observation, and each read decodes the value anew.
 * It is a class, because a literal with a getter costs the engine a shape for each beat.
 */
class Decoded implements Observation {
  readonly beat: number
  readonly #document: Codec.Document
  readonly #path: Path
  #text: string | undefined

  constructor(beat: number, document: Codec.Document, path: Path) {
    this.beat = beat
    this.#document = document
    this.#path = path
  }

  get value(): Observation["value"] {
    return Codec.read(this.#document, this.#path)
  }

  /** The text of the value, made once. */
  get text(): string {
    if (this.#path.length === 0) return this.#document.text
    return this.#text ??= encoded(this.value)
  }

  toJSON(): Observation {
    return { beat: this.beat, value: this.value }
  }
}

const encoded = (value: Observation["value"]): string => value === undefined ? "null" : Codec.encode(value).text

/**
 * The observation of a place in a document after a beat. Several subscribers may share it.
 */
export const observe = (beat: number, document: Codec.Document | undefined, path: Path): Observation => {
  if (document === undefined) return { beat, value: undefined }
  return document.plain === undefined ? new Decoded(beat, document, path) : { beat, value: Codec.read(document, path) }
}

/**
 * The text of an observation; `null` for an absent value.
 */
export const textOf = (observation: Observation): string => {
  if (observation instanceof Decoded) return observation.text
  let text = texts.get(observation)
  if (text === undefined) {
    text = encoded(observation.value)
    texts.set(observation, text)
  }
  return text
}

/** Gives an observation the text of another one with the same value. */
export const shareText = (observation: Observation, known: Observation): void => void texts.set(observation, textOf(known))
