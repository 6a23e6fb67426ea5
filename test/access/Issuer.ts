/**
 * An issuer of JSON Web Tokens: its keys, and a server of its key set on this machine.
 *
 * @module
 */
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export const ISSUER = "https://issuer.example"
export const AUDIENCE = "systole"

/** The algorithm of the keys. */
const ALG = "ES256"

interface Key {
  readonly jwk: JWK
  readonly sign: (claims: JWTPayload, header?: object) => Promise<string>
}

/** A key pair with a name. */
export const key = async (kid: string, alg: "ES256" | "RS256" | "EdDSA" = ALG): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...await exportJWK(publicKey), kid, alg, use: "sig" }
  return { jwk, sign: (claims, header = {}) => new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey) }
}

/** The claims of a token for an hour from a moment in milliseconds. */
export const claims = (now: number, other: JWTPayload = {}): JWTPayload => {
  const seconds = Math.floor(now / 1000)
  return { iss: ISSUER, aud: AUDIENCE, sub: "alice", iat: seconds, nbf: seconds, exp: seconds + 3600, ...other }
}

/** The answer of a server to a request for its key set. */
export type Answer = (response: ServerResponse) => void

/** An answer with these keys. */
export const keysOf = (...keys: ReadonlyArray<Key>): Answer => (response) =>
  void response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))

/** A server of key sets: its answer, which can be replaced, and the number of its requests. */
export interface KeyServer {
  answer: Answer
  asked: number
  url: string
}

/** Runs with a server of key sets. */
export const withServer = async (run: (server: KeyServer) => Promise<void>): Promise<void> => {
  const state: KeyServer = { answer: keysOf(), asked: 0, url: "" }
  const server = createServer((_, response) => {
    state.asked++
    state.answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`
  try {
    await run(state)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
