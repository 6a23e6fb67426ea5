/**
 * Passes: the texts that stand for a credential for a while. A cookie is the session of a browser, a bearer is for a page of another
 * site, and a link begins a session once.
 *
 * A pass tells its credential and its end, and a code of authentication over both and over the digest of the credential's secret. So
 * no host keeps one, and a pass ends when the secret does.
 *
 * @module
 */
import { hmac } from "../cell/Digest.ts"
import * as Redacted from "../cell/Redacted.ts"
import { isSame } from "./Token.ts"

/** The use of a pass. */
export type Kind = "bearer" | "cookie" | "link"

/** A pass without its code. */
export interface Pass {
  readonly kind: Kind
  /** 16 hexadecimal digits, which those that are made from it share: {@link ownerIn}, and 12 by chance. */
  readonly id: string
  /** Its end in milliseconds since 1970. */
  readonly expires: number
  /** The name of its credential, such as `token-1a2b3c4d`. */
  readonly name: string
}

/** A pass that a request shows. */
export interface PresentedPass extends Pass {
  /** The part that its code is made over. */
  readonly text: string
  readonly code: Redacted.Redacted
}

const letters = { bearer: "b", cookie: "c", link: "l" } as const satisfies Readonly<Record<Kind, string>>

const kinds: Readonly<Record<string, Kind>> = { b: "bearer", c: "cookie", l: "link" }

const FORM = /^(sy([bcl])\.([0-9a-f]{16})\.([0-9a-z]{1,9})\.([\w-]{1,80}))\.([0-9a-f]{64})$/

/** The header of a request with a bearer or a link. */
const BEARER = /^bearer +(sy[bl]\.\S{1,200})$/i

/** The bearer or the link in a header `authorization`; `undefined` for any other credential. */
export const inHeader = (authorization: string): Redacted.Redacted | undefined => Redacted.given(BEARER.exec(authorization)?.[1])

/** The parts of a text; `undefined` for a text that is no pass. */
export const read = (given: Redacted.Redacted): PresentedPass | undefined => {
  const [, text = "", letter = "", id = "", end = "", name = "", code = ""] = FORM.exec(Redacted.value(given)) ?? []
  const kind = kinds[letter]
  return kind === undefined ? undefined : { kind, id, expires: Number.parseInt(end, 36), name, text, code: Redacted.make(code) }
}

/** The beginning of an id, by which the passes of a credential are counted. Others may share it. */
export const ownerIn = (id: string): string => id.slice(0, 4)

/** The secrets of a code: the key of the host, and the digest of the credential's secret. */
export interface Secrets {
  readonly key: Redacted.Redacted
  readonly digest: string
}

const codeOf = ({ digest, key }: Secrets, text: string): string => hmac(Redacted.value(key), JSON.stringify([text, digest]))

/**
 * The text of a pass.
 */
export const write = ({ expires, id, kind, name }: Pass, secrets: Secrets): Redacted.Redacted => {
  const text = `sy${letters[kind]}.${id}.${expires.toString(36)}.${name}`
  return Redacted.make(`${text}.${codeOf(secrets, text)}`)
}

/**
 * Whether the code of a pass is made with these secrets. It takes a constant time.
 */
export const isMadeWith = ({ code, text }: PresentedPass, secrets: Secrets): boolean => isSame(Redacted.value(code), codeOf(secrets, text))
