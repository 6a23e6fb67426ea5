/**
 * The decision of the Worker in front on a JSON Web Token, which it hands to the object of a space with its proof.
 *
 * An object verifies no such token itself, so that it needs neither the keys of the issuer nor the function of the configuration.
 *
 * @module
 */
import { isSame, type Token } from "../../access/Token.ts"
import * as Redacted from "../../cell/Redacted.ts"
import type { Bearer } from "../../ingress/access/Access.ts"

const HEADER = "x-systole-token"

/** A request with the token that was made of its JSON Web Token. */
export const withToken = (request: Request, token: Token, proof: Redacted.Redacted): Request => {
  const headers = new Headers(request.headers)
  headers.set(HEADER, `${Redacted.value(proof)} ${encodeURIComponent(JSON.stringify(token))}`)
  return new Request(request, { headers })
}

/** The decision that was handed with the proof; none for a request with another one. */
export const bearer = (proof: Redacted.Redacted): Bearer => ({ headers }) => {
  const [shown = "", token = ""] = (headers.get(HEADER) ?? "").split(" ", 2)
  return isSame(shown, Redacted.value(proof)) ? { token: JSON.parse(decodeURIComponent(token)) as Token } : undefined
}
