/**
 * Withdrawn credentials: the ids of revoked tokens and the digests of ended secrets, with their times.
 *
 * They are kept apart from the tokens, so that a table of tokens that is restored from a copy revives none of them.
 *
 * @module
 */
import type { Database } from "./AccessTable.ts"
import { MAX_TOKENS } from "./Token.ts"
import type { Change, Snapshot } from "./TokenSet.ts"

/** The most entries. The oldest are forgotten first, and each is with the end of its token. */
export const MAX_WITHDRAWN = 10 * MAX_TOKENS

/** The times of the entries in milliseconds since 1970, by id or digest. */
export type Withdrawn = ReadonlyMap<string, number>

const COLUMNS = "key TEXT PRIMARY KEY, at INTEGER NOT NULL, expires INTEGER NOT NULL"
const TABLE = `CREATE TABLE IF NOT EXISTS withdrawn (${COLUMNS}) STRICT, WITHOUT ROWID`

/**
 * All entries.
 */
export const load = ({ rows }: Database): Withdrawn => {
  if (rows("SELECT 1 FROM sqlite_schema WHERE name = 'withdrawn'").length === 0) return new Map()
  return new Map(rows("SELECT key, at FROM withdrawn").map(([key, at]) => [String(key), Number(at)]))
}

/** Whether a change has entries. They are added before it is saved, so that a revocation that was told is known. */
export const isOf = ({ withdrawn = [] }: Change): boolean => withdrawn.length > 0

/**
 * Adds the entries of a change. An entry keeps its first time.
 */
export const add = ({ rows, transaction }: Database, { now, token: { expires }, withdrawn = [] }: Change): void =>
  transaction(() => {
    rows(TABLE)
    rows("DELETE FROM withdrawn WHERE expires <= CAST(? AS INTEGER)", String(now))
    for (const key of withdrawn) rows("INSERT OR IGNORE INTO withdrawn VALUES (?, ?, ?)", key, String(now), String(expires))
    rows(`DELETE FROM withdrawn WHERE key IN (SELECT key FROM withdrawn ORDER BY at DESC LIMIT -1 OFFSET ${MAX_WITHDRAWN})`)
  })

/**
 * Tokens without the secrets that were withdrawn, and revoked where their ids were.
 */
export const applied = (snapshot: Snapshot, withdrawn: Withdrawn): Snapshot => withdrawn.size === 0 ? snapshot : {
  ...snapshot,
  tokens: snapshot.tokens.map((token) => {
    const revoked = token.revoked ?? withdrawn.get(token.id)
    const digests = token.digests.filter((digest) => !withdrawn.has(digest))
    return { ...token, digests, ...revoked === undefined ? {} : { revoked } }
  })
}
