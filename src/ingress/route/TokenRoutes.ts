/**
 * The routes of tokens.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../../cell/Redacted.ts"
import { labelOf, type Token } from "../../access/Token.ts"
import type { Secret, TokenAdmin } from "../../access/TokenAdmin.ts"
import * as Endpoints from "../../contract/Tokens.ts"
import type { CallerAccess } from "../access/Caller.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { RouteTable } from "./RouteTable.ts"

/** The id of a token, which may have the beginning of its secret. */
const idOf = ({ id }: { readonly id: string }): string => id.startsWith(labelOf("")) ? id.slice(labelOf("").length) : id

const brief = new RequestRefused({
  code: "access/origin",
  reason: "A bearer of some minutes gets no secret of a token, which would last longer than it. Ask with the credential that made it"
})

/** The caller who gets a secret. @throws RequestRefused */
const keeper = ({ session, token }: CallerAccess): Token | undefined => {
  if (session?.kind === "bearer") throw brief
  return token
}

/** An answer of the administration. */
const told = <A>(ask: () => A | Promise<A>) => Effect.tryPromise({ try: async () => ask(), catch: (failure) => failure })

/**
 * Adds the routes to a table.
 */
export const routes = (table: RouteTable, admin: TokenAdmin): void => {
  table.serve(Endpoints.create, ({ body, by }) => told(() => admin.create(body, keeper(by))).pipe(Effect.map(shown)))
  table.serve(Endpoints.list, ({ query: { after = "", limit } }) => told(() => admin.list(idOf({ id: after }), limit)))
  table.serve(Endpoints.revoke, ({ params }) => told(() => admin.revoke(idOf(params))).pipe(Effect.map(revocation)))
  table.serve(Endpoints.rotate, ({ by, params }) => told(() => admin.rotate(idOf(params), keeper(by))).pipe(Effect.map(shown)))
  table.serve(Endpoints.settle, ({ params }) => told(() => admin.settle(idOf(params))).pipe(
    Effect.map(({ digests, id }) => ({ id, secrets: digests.length }))
  ))
}

/** A secret in its only answer. */
const shown = ({ token, ...made }: Secret) => ({ ...made, token: Redacted.value(token) })

const revocation = ({ id, revoked = 0 }: Token) => ({ id, revoked })
