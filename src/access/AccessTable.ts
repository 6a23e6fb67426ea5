/**
 * The table of tokens over SQLite: a file of a server, or the database of an object.
 *
 * @module
 */
import { MAX_TOKENS, type Token } from "./Token.ts"
import type { Change, Saved, Snapshot } from "./TokenSet.ts"

/** A database. */
export interface Database {
  /** The rows of one statement, each with the values of its columns in order. */
  readonly rows: (query: string, ...values: ReadonlyArray<string>) => ReadonlyArray<ReadonlyArray<unknown>>
  readonly transaction: <A>(body: () => A) => A
}

const TABLES = [
  "CREATE TABLE IF NOT EXISTS token (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS revision (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT"
]

/** Whether there was ever a token. The look writes nothing. */
const isThere = ({ rows }: Database): boolean =>
  rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'revision'").length > 0

const revisionOf = ({ rows }: Database): string => String(rows("SELECT text FROM revision")[0]?.[0] ?? "")

const isText = (value: unknown): boolean => typeof value === "string"
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

/** The forms of the fields. A row with another field is of a later version, and may grant less than is read here. */
const FORMS: Readonly<Record<keyof Token, (value: unknown) => boolean>> = {
  id: isText, spaces: isTexts, verbs: isTexts, prefixes: isTexts, clearance: isTexts, digests: isTexts, used: isText,
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

/**
 * All tokens; `undefined` if the revision is the known one.
 *
 * @category getters
 * @since 0.2.0
 */
export const load = (database: Database, known?: string): Snapshot | undefined => {
  if (!isThere(database)) return known === "" ? undefined : { revision: "", tokens: [] }
  const revision = revisionOf(database)
  return revision === known ? undefined : { revision, tokens: all(database) }
}

/** The ids of tokens that are forgotten: those that expired, and revoked ones beyond the newest. */
const forgotten = (tokens: ReadonlyArray<Token>, now: number): ReadonlyArray<string> => {
  const revoked = tokens.filter(({ revoked }) => revoked !== undefined).sort((a, b) => (b.revoked ?? 0) - (a.revoked ?? 0))
  return [...tokens.filter(({ expires }) => expires <= now), ...revoked.slice(MAX_TOKENS)].map(({ id }) => id)
}

/**
 * Saves one token, unless another change came first.
 *
 * @category combinators
 * @since 0.2.0
 */
export const save = (database: Database, { known, now, revision, token }: Change): Saved =>
  database.transaction(() => {
    const { rows } = database
    for (const statement of TABLES) rows(statement)
    if (revisionOf(database) !== known) return "changed"
    for (const id of forgotten(all(database), now)) rows("DELETE FROM token WHERE id = ?", id)
    rows("INSERT OR REPLACE INTO token VALUES (?, ?)", token.id, JSON.stringify(token))
    rows("INSERT OR REPLACE INTO revision VALUES (1, ?)", revision)
    return "saved"
  })

/**
 * Notes the day of a use. No other host has to load it, so the revision stays.
 *
 * @category combinators
 * @since 0.2.0
 */
export const use = (database: Database, id: string, day: string): void => {
  if (isThere(database)) database.rows("UPDATE token SET row = json_set(row, '$.used', ?) WHERE id = ?", day, id)
}
