import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Bearer } from "../../src/ingress/access/Access.ts"
import { enzymes, serve } from "../ingress/TestIngress.ts"
import { config, ofJwts } from "./Scopes.ts"
import { make } from "./TestTokens.ts"
import * as Walking from "./Walking.ts"

/** The decision on a verified JSON Web Token, which is here the number of its scope. */
const bearer: Bearer = ({ headers }) => {
  const number = /^Bearer jwt-(\d+)$/.exec(headers.get("authorization") ?? "")?.[1]
  if (number === undefined) return undefined
  return { token: { id: "jwt:ada", created: 0, expires: 2 ** 50, digests: [], ...ofJwts[Number(number)]! } }
}

const walked = (name: string, run: (host: Walking.Host) => Promise<void>) =>
  it.live(name, () => {
    const tokens = make()
    const { admin, clock, create } = tokens
    const over = async () => {
      const revoked = await create({ verbs: ["read"] })
      await admin.revoke(revoked.split("_")[1] ?? "")
      const expired = await create({ verbs: ["read"], expires: "1m" })
      clock.now += 60_000
      return { revoked, expired }
    }
    return Effect.flatMap(serve({ config, enzymes, debug: true, tokens, bearer }), ({ app, ask }) =>
      Effect.promise(() => run({
        ask, create, over, endpoints: app.table.endpoints, isWorker: false, jwt: async (number) => `jwt-${number}`
      })))
  })

describe("Every route", () => {
  walked("allows a session and a bearer what their token may", Walking.withSessions)

  walked("allows each token exactly what its scope says, in two spaces", Walking.withTokens)

  walked("allows a JSON Web Token exactly what its claims say, in two spaces", Walking.withJwts)

  walked("allows the root all, a reader its routes, a worker its report, and others what is public", Walking.withOthers)
})
