/**
 * Tokens over a database in memory, with a clock that a test sets.
 *
 * @module
 */
import { createHash, randomBytes } from "node:crypto"
import { Sessions } from "../../src/access/Sessions.ts"
import { TokenAdmin, type TokenRequest } from "../../src/access/TokenAdmin.ts"
import * as Token from "../../src/access/Token.ts"
import { type Store, TokenSet } from "../../src/access/TokenSet.ts"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"

export const DAY = 86_400_000

const sha256 = { hex: (text: string) => createHash("sha256").update(text).digest("hex") }

/** The tokens of one host. Several hosts may have one store. */
export const make = ({ clock = { now: Date.UTC(2026, 10, 27) }, hash = sha256, report, root, store = HostAccess.inMemory() }: {
  /** The token of the configuration. */
  readonly root?: string
  readonly clock?: { now: number }
  readonly hash?: { readonly hex: (text: string) => string }
  readonly store?: Store
  readonly report?: (failure: unknown) => void
} = {}) => {
  const set = new TokenSet({ store, hash, now: () => clock.now, report })
  const admin = new TokenAdmin({ set, draw: randomBytes })
  const sessions = new Sessions({ set, draw: randomBytes, root: Redacted.given(root) })
  const create = async (wanted: TokenRequest) => Redacted.value((await admin.create(wanted, undefined)).token)
  /** Another secret of a token. */
  const rotate = async (id: string) => Redacted.value((await admin.rotate(id, undefined)).token)
  /** The code of the refusal of a secret, or the id of its token. */
  const check = async (secret: string): Promise<string> => {
    const checked = await set.check(Redacted.make(secret))
    return "refused" in checked ? checked.refused.code : checked.token.id
  }
  return { admin, check, clock, create, rotate, sessions, set, store }
}

/** The id in a secret. */
export const idIn = (secret: string): string | undefined => Token.idIn(Redacted.make(secret))

/** The code with which a promise fails. */
export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => "done", (failure: { readonly code?: unknown }) => failure.code)
