/**
 * The table of tokens over SQLite: a file of a server, or the database of an object.
 *
 * @module
 */
import { type Database, isThere, REVISION, revisionOf, setRevision } from "./Database.ts"
import { MAX_TOKENS, type Token } from "./Token.ts"
import type { Change, SaveResult, Snapshot, Store } from "./TokenSet.ts"
import * as Withdrawn from "./WithdrawnCredentials.ts"

const TABLES = [
  "CREATE TABLE IF NOT EXISTS token (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT, WITHOUT ROWID",
  REVISION,
  "CREATE TABLE IF NOT EXISTS session_key (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT"
]

const isText = (value: unknown): boolean => typeof value === "string"
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

/** The forms of the fields. A row with another field is of a later version, and may grant less than is read here. */
const FORMS: Readonly<Record<keyof Token, (value: unknown) => boolean>> = {
  id: isText, spaces: isTexts, verbs: isTexts, prefixes: isTexts, clearance: isTexts, digests: isTexts, used: isText, scope: isText,
  created: Number.isFinite, expires: Number.isFinite, revoked: Number.isFinite
}

/** @throws Error for a row that is no token */
const tokenOf = ([id, text]: ReadonlyArray<unknown>): Token => {
  const token = JSON.parse(String(text)) as Token
  const hasForms = Object.entries(token).every(([name, value]) => FORMS[name as keyof Token]?.(value) === true)
  const isWhole = hasForms && token.id === id && [token.verbs, token.digests, token.expires].every((part) => part !== undefined)
  if (!isWhole) throw new Error(`the row of token ${String(id).slice(0, 100)} is damaged, or of another version`)
  return token
}

const all = ({ rows }: Database): ReadonlyArray<Token> => rows("SELECT id, row FROM token ORDER BY id").map(tokenOf)

/** The table before its first token. */
export const none: Snapshot = { revision: "", tokens: [], spent: {} }

/**
 * All tokens; `undefined` if the revision is the known one.
 */
export const load = (database: Database, known?: string): Snapshot | undefined => {
  const revision = revisionOf(database)
  if (revision === known) return undefined
  if (!isThere(database, "token")) return none
  return { revision, tokens: all(database), spent: Withdrawn.spentIn(database) }
}

/** The ids of tokens that are forgotten: those that expired, and revoked ones beyond the newest. */
const forgotten = (tokens: ReadonlyArray<Token>, now: number): ReadonlyArray<string> => {
  const revoked = tokens.filter(({ revoked }) => revoked !== undefined).sort((a, b) => (b.revoked ?? 0) - (a.revoked ?? 0))
  return [...tokens.filter(({ expires }) => expires <= now), ...revoked.slice(MAX_TOKENS)].map(({ id }) => id)
}

/**
 * Saves one token, unless another change came first.
 */
export const save = (database: Database, { known, now, revision, token }: Change): SaveResult =>
  database.transaction(() => {
    const { rows } = database
    for (const statement of TABLES) rows(statement)
    if (revisionOf(database) !== known) return "changed"
    for (const id of forgotten(all(database), now)) rows("DELETE FROM token WHERE id = ?", id)
    Withdrawn.forget(database, now)
    rows("INSERT OR REPLACE INTO token VALUES (?, ?)", token.id, JSON.stringify(token))
    setRevision(database, revision)
    return "saved"
  })

/**
 * Notes the day of a use. No other host has to load it, so the revision stays.
 */
export const use = (database: Database, id: string, day: string): void => {
  if (isThere(database, "token")) database.rows("UPDATE token SET row = json_set(row, '$.used', ?) WHERE id = ?", day, id)
}

/**
 * The random text of the key of sessions, which is kept at the first call with one.
 */
export const key = (database: Database, drawn?: string): string | undefined => {
  const { rows } = database
  const found = (): string | undefined => {
    const [text] = rows("SELECT text FROM session_key")[0] ?? []
    return text === undefined ? undefined : String(text)
  }
  if (drawn === undefined) return isThere(database, "session_key") ? found() : undefined
  return database.transaction(() => {
    for (const statement of TABLES) rows(statement)
    rows("INSERT OR IGNORE INTO session_key VALUES (1, ?)", drawn)
    return found()
  })
}

/**
 * The table of tokens in an open database.
 */
export const tableOf = (database: Database): Omit<Store, "spend"> => ({
  load: async (known) => load(database, known),
  save: async (change) => save(database, change),
  use: async (id, day) => use(database, id, day),
  key: async (drawn) => key(database, drawn)
})
