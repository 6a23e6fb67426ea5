/**
 * Credentials that ended early: the ids of revoked tokens, the digests of ended secrets, and the passes that are over before their end.
 *
 * They are kept apart from the tokens, so that a table of tokens that is restored from a copy revives none of them.
 *
 * @module
 */
import { type Database, isThere, REVISION, revisionOf, setRevision } from "./Database.ts"
import { ownerIn } from "./SessionPass.ts"
import { KEPT_MILLIS, MAX_SPENT, MAX_SPENT_BY, MAX_TOKENS } from "./Token.ts"
import type { Change, EndedPass, EndResult, Snapshot, Store } from "./TokenSet.ts"

/** The most tokens and secrets. The oldest are forgotten first, and each is with the end of its token. Passes have limits of their own. */
export const MAX_WITHDRAWN = 10 * MAX_TOKENS

/** All entries at a revision. */
export interface Withdrawn {
  /** A text that each change replaces; empty before the first. */
  readonly revision: string
  /** The times of tokens and secrets in milliseconds since 1970, by id or digest. */
  readonly credentials: Readonly<Record<string, number>>
  /** The ends of passes in milliseconds since 1970, by id. */
  readonly spent: Readonly<Record<string, number>>
}

/** The table before its first entry. */
export const none: Withdrawn = { revision: "", credentials: {}, spent: {} }

const COLUMNS = "key TEXT PRIMARY KEY, at INTEGER NOT NULL, expires INTEGER NOT NULL"

const TABLES = [
  `CREATE TABLE IF NOT EXISTS withdrawn (${COLUMNS}) STRICT, WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS spent (id TEXT PRIMARY KEY, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  REVISION
]

/** The numbers of a table by their keys. It is made with its first row, and tables of earlier versions lack some. */
const numbersIn = (database: Database, table: "spent" | "withdrawn", columns: string): Readonly<Record<string, number>> =>
  isThere(database, table)
    ? Object.fromEntries(database.rows(`SELECT ${columns} FROM ${table}`).map(([key, number]) => [String(key), Number(number)]))
    : {}

/** The ends of the passes in a database. Earlier versions kept them beside the tokens. */
export const spentIn = (database: Database): Readonly<Record<string, number>> => numbersIn(database, "spent", "id, expires")

/** The moment before which an end is long over. */
const longOver = (now: number): string => String(now - KEPT_MILLIS)

/** Forgets the passes in a database whose ends are long over. */
export const forget = (database: Database, now: number): void => {
  if (isThere(database, "spent")) database.rows("DELETE FROM spent WHERE expires <= CAST(? AS INTEGER)", longOver(now))
}

/**
 * All entries; `undefined` if the revision is the known one.
 */
export const load = (database: Database, known?: string): Withdrawn | undefined => {
  const revision = revisionOf(database)
  if (revision === known) return undefined
  return { revision, credentials: numbersIn(database, "withdrawn", "key, at"), spent: spentIn(database) }
}

/** Makes a change over tables that are there. */
const changing = <A>({ rows, transaction }: Database, change: () => A): A =>
  transaction(() => {
    for (const statement of TABLES) rows(statement)
    return change()
  })

/** Whether a change has entries. They are added before it is saved, so that a revocation that was told is known. */
const isOf = ({ withdrawn = [] }: Change): boolean => withdrawn.length > 0

/**
 * Adds the entries of a change. An entry keeps its first time.
 */
export const add = (database: Database, { now, revision, token: { expires }, withdrawn = [] }: Change): void =>
  changing(database, () => {
    const { rows } = database
    rows("DELETE FROM withdrawn WHERE expires <= CAST(? AS INTEGER)", longOver(now))
    for (const key of withdrawn) rows("INSERT OR IGNORE INTO withdrawn VALUES (?, ?, ?)", key, String(now), String(expires))
    rows(`DELETE FROM withdrawn WHERE key IN (SELECT key FROM withdrawn ORDER BY at DESC LIMIT -1 OFFSET ${MAX_WITHDRAWN})`)
    setRevision(database, revision)
  })

/**
 * Notes that a pass is over before its end.
 */
export const spend = (database: Database, { expires, id, isOperator, now, revision }: EndedPass & { readonly now: number }): EndResult =>
  changing(database, () => {
    const { rows } = database
    const count = (condition = "", ...values: ReadonlyArray<string>): number =>
      Number(rows(`SELECT count(*) FROM spent ${condition}`, ...values)[0]?.[0])
    forget(database, now)
    if (rows("SELECT 1 FROM spent WHERE id = ?", id).length > 0) return "again"
    const owner = ownerIn(id)
    if (count("WHERE id BETWEEN ? AND ?", owner, `${owner}g`) >= MAX_SPENT_BY || !isOperator && count() >= MAX_SPENT) return "full"
    rows("INSERT INTO spent VALUES (?, CAST(? AS INTEGER))", id, String(expires))
    setRevision(database, revision)
    return "first"
  })

/** Tokens without what was withdrawn: without its secrets, and revoked where their ids were. */
const applied = (snapshot: Snapshot, { credentials, revision, spent }: Withdrawn): Snapshot => ({
  revision: joined([snapshot.revision, revision]),
  tokens: snapshot.tokens.map((token) => {
    const revoked = token.revoked ?? credentials[token.id]
    const digests = token.digests.filter((digest) => credentials[digest] === undefined)
    return { ...token, digests, ...revoked === undefined ? {} : { revoked } }
  }),
  spent: { ...snapshot.spent, ...spent }
})

/** The revisions of both tables: that of the tokens, and that of withdrawn credentials. */
type Revisions = readonly [tokens: string, withdrawn: string]

const joined = ([tokens, withdrawn]: Revisions): string => withdrawn === none.revision ? tokens : `${tokens}+${withdrawn}`

const split = (revision: string): Revisions => {
  const [tokens = "", withdrawn = none.revision] = revision.split("+", 2)
  return [tokens, withdrawn]
}

/** The table, as a host calls it. */
export interface Table {
  readonly load: (known?: string) => Promise<Withdrawn | undefined>
  readonly add: (change: Change) => Promise<void>
  readonly spend: Store["spend"]
}

/**
 * The table in an open database.
 */
export const tableOf = (database: Database): Table => ({
  load: async (known) => load(database, known),
  add: async (change) => add(database, change),
  spend: async (spent) => spend(database, spent)
})

/**
 * The store of tokens over both tables. A change of either is a change of the store, so a host that knows the revision of a restored
 * table of tokens still loads what was withdrawn since.
 */
export const combine = (tokens: Omit<Store, "spend">, withdrawn: Table): Store => ({
  ...tokens,
  load: async (known) => {
    const [ofTokens, ofWithdrawn] = known === undefined ? [] : split(known)
    const news = await Promise.all([tokens.load(ofTokens), withdrawn.load(ofWithdrawn)])
    if (news.every((part) => part === undefined)) return undefined
    // All of both, since one of an earlier version may have changed without a revision.
    const [snapshot, entries] = known === undefined ? news : await Promise.all([tokens.load(), withdrawn.load()])
    return snapshot && applied(snapshot, entries ?? none)
  },
  save: async (change) => {
    if (isOf(change)) await withdrawn.add(change)
    return tokens.save({ ...change, known: split(change.known)[0] })
  },
  spend: (spent) => withdrawn.spend(spent)
})
