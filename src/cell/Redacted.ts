/**
 * Secrets in memory: a token, a key or a password as a value that shows nothing of itself.
 *
 * It is what `Redacted` of Effect is. The Worker in front imports no Effect, and one kind of secret serves all rooms.
 *
 * @module
 */

/** The name of the method by which hosts print a value, in `console.log` and in errors. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom")

const SHOWN = "<redacted>"

/**
 * A secret: a text that only {@link value} gives back. A copy of its fields, its JSON and its print have nothing of it.
 */
class Redacted {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  static read(secret: Redacted): string {
    return secret.#text
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [INSPECT](): string {
    return SHOWN
  }
}

export type { Redacted }

/**
 * Hides a text.
 *
 * @example A key of a plugin in a message
 * ```ts
 * import { Redacted } from "systole"
 *
 * export const key = Redacted.make("whsec_canary")
 *
 * export const message = `${key} and ${JSON.stringify({ key })}` // <redacted> and {"key":"<redacted>"}
 * export const text = Redacted.value(key) // whsec_canary
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (text: string): Redacted => new Redacted(text)

/**
 * Hides a text that may be absent.
 *
 * @category constructors
 * @since 0.2.0
 */
export const given = (text: string | undefined): Redacted | undefined => text === undefined ? undefined : make(text)

/**
 * The text of a secret, where it is compared, sent or used as a key.
 *
 * @category getters
 * @since 0.2.0
 */
export const value = (secret: Redacted): string => Redacted.read(secret)

/**
 * Whether a value is a secret.
 *
 * @category guards
 * @since 0.2.0
 */
export const is = (value: unknown): value is Redacted => value instanceof Redacted
