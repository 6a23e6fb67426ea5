/**
 * Tokens with a scope, as they are kept: without their secrets.
 *
 * @module
 */
import * as Redacted from "../cell/Redacted.ts"
import type { Verb } from "../contract/Endpoint.ts"

/**
 * A token.
 */
export interface Token {
  /** Its public name, which is a part of its secret. */
  readonly id: string
  /** The names of its spaces; all spaces if absent. */
  readonly spaces?: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<Verb>
  /** Its addresses; all addresses if absent. */
  readonly prefixes?: ReadonlyArray<string>
  /** The atoms that it may know; all atoms if absent. */
  readonly clearance?: ReadonlyArray<string>
  /** The scope of cells that it knows beside what the whole space shares; all scopes if absent. */
  readonly scope?: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly expires: number
  /** The SHA-256 of its secrets, newest first: one, or two during a rotation. */
  readonly digests: ReadonlyArray<string>
  readonly revoked?: number
  /** The newest day of its use, in UTC. */
  readonly used?: string
}

/** The most live tokens. Of revoked ones, as many of the newest are remembered. */
export const MAX_TOKENS = 1000

/** The most passes that are remembered as over before their end, beside those of the operator, and the most of one credential. */
export const MAX_SPENT = 10_000
export const MAX_SPENT_BY = 2000

/**
 * The time for which a credential that ended early is remembered beyond its own end, in milliseconds: a clock that was fast until it
 * was set back revives none.
 */
export const KEPT_MILLIS = 3_600_000

const FORM = /^sys_([0-9a-v]{8})_[\w-]{43}$/

/** The place in a secret at which its id is. */
const [ID_BEGIN, ID_END] = [4, 12]

/** The header of a request with the secret of a token. */
const BEARER = /^bearer +(sys_\S{1,200})$/i

/** The secret in a header `authorization`; `undefined` for any other credential. */
export const secretIn = (authorization: string | null): Redacted.Redacted | undefined =>
  Redacted.given(BEARER.exec(authorization ?? "")?.[1])

/** The id in a secret; `undefined` for a text that is none. */
export const idIn = (secret: Redacted.Redacted): string | undefined => FORM.exec(Redacted.value(secret))?.[1]

/** The text in the place of an id, also in one that is no secret. It costs less than {@link idIn}. */
export const placedIn = (secret: Redacted.Redacted): string => Redacted.value(secret).slice(ID_BEGIN, ID_END)

/** The beginning of the id of a JSON Web Token. Its claim `sub` follows. */
export const JWT = "jwt:"

/** The name of a token in texts: the beginning of its secret, which is no secret itself, or the id of a JSON Web Token. */
export const labelOf = (id: string): string => id.startsWith(JWT) ? id : `sys_${id}`

/** The day of a moment, such as `2026-11-27`. */
const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

const DAY = 86_400_000

/** Creates the day of a moment for moments that are mostly of the same day. */
export const days = (): (moment: number) => string => {
  let [number, day] = [Number.NaN, ""]
  return (moment) => {
    const of = Math.floor(moment / DAY)
    if (of !== number) [number, day] = [of, dayOf(moment)]
    return day
  }
}

/** Whether a token has a narrow view of a space: some addresses, some labels, or one scope. */
export const isNarrow = ({ clearance, prefixes, scope }: Token): boolean =>
  prefixes !== undefined || clearance !== undefined || scope !== undefined

/**
 * Compares a text that was shown with a secret, in a time that depends on the length of the first alone.
 */
export const isSame = (shown: string, secret: string): boolean => {
  const isLong = shown.length === secret.length
  const other = isLong ? secret : shown
  let difference = isLong ? 0 : 1
  for (let i = 0; i < shown.length; i++) difference |= shown.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}
