/**
 * The tokens of a configuration: from its file, or from environment variables.
 *
 * `SYSTOLE_TOKEN` is the token of the operator, and `SYSTOLE_TOKEN_<READER>` that of a reader. A variable replaces a token of the
 * file, and a build contains none.
 *
 * @module
 */
import * as Redacted from "../cell/Redacted.ts"
import type { Clearance } from "../kernel/view/Space.ts"
import { InvalidConfig } from "./InvalidConfig.ts"

/** The form of a token. */
export const TOKEN = /^[\x21-\x7e]{16,512}$/

/** The rule of {@link TOKEN} in words. */
export const FORM = "a token has 16 to 512 visible ASCII characters"

/** The environment variables of a process. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A reader and its bearer token. */
export interface ReaderToken extends Clearance {
  readonly token: Redacted.Redacted
}

/** The settings to which the tokens belong. */
export interface TokenSettings {
  /** The host name or address to listen on. */
  readonly host: string
  /** The bearer token of callers. */
  readonly token: Redacted.Redacted | undefined
  /** Readers with a limited clearance, by bearer token. */
  readonly readers: ReadonlyArray<Clearance & Partial<Pick<ReaderToken, "token">>>
}

/** Settings with a token for each reader. */
export type Secured<A extends TokenSettings> = Omit<A, "readers"> & { readonly readers: ReadonlyArray<ReaderToken> }

/** The variable with the token of the operator. */
const OPERATOR = "SYSTOLE_TOKEN"

/**
 * The variable with the token of a reader: `SYSTOLE_TOKEN_WEB_SHOP` of `web-shop`.
 */
export const variableOf = (reader: string): string => `${OPERATOR}_${reader.toUpperCase().replaceAll("-", "_")}`

/**
 * Adds the tokens of the environment variables, and checks that each token has its form. In settings that are to be served each has
 * one owner, no reader is without one, and an address of other machines has one. Others are without the readers that have none.
 *
 * @throws InvalidConfig
 */
export const withTokens = <A extends TokenSettings>(settings: A, variables: Variables, isServed = true): Secured<A> => {
  const refuse = (reason: string): never => {
    throw new InvalidConfig({ reason })
  }
  const token = Redacted.given(variables[OPERATOR]) ?? settings.token
  const readers: Array<ReaderToken> = []
  for (const reader of settings.readers) {
    const variable = variableOf(reader.name)
    const own = Redacted.given(variables[variable]) ?? reader.token
    if (own === undefined && !isServed) continue
    if (own === undefined) return refuse(`labels.readers names "${reader.name}", and it has no token. Set ${variable}, or its token`)
    readers.push({ ...reader, token: own })
  }
  const wrong = [[OPERATOR, token] as const, ...readers.map(({ name, token }) => [variableOf(name), token] as const)]
    .find(([, token]) => token !== undefined && !TOKEN.test(Redacted.value(token)))
  if (wrong !== undefined) return refuse(`${wrong[0]} is no token: ${FORM}`)
  if (!isServed) return { ...settings, token, readers }
  if (!isLoopback(settings.host) && token === undefined) {
    return refuse(
      `host "${settings.host}" can be reached from other machines, and there is no token. Set ${OPERATOR} or token, or use host "127.0.0.1"`
    )
  }
  const tokens = [...token === undefined ? [] : [token], ...readers.map((reader) => reader.token)].map(Redacted.value)
  if (readers.length > 0 && (token === undefined || new Set(tokens).size < tokens.length)) {
    return refuse(
      "labels names readers, and not each of them and the operator has a token of its own, so somebody would pass for another. " +
        "Set a token, and one for each reader that nobody else has"
    )
  }
  return { ...settings, token, readers }
}

/** The variables whose values are tokens of these settings. */
export const namesOf = ({ readers }: Pick<TokenSettings, "readers">): ReadonlyArray<string> =>
  [OPERATOR, ...readers.map(({ name }) => variableOf(name))]

/**
 * Tests whether an address is reachable from this machine only.
 */
export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
