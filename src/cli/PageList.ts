/**
 * Commands that print a list of the server, one page at a time.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { CliFailure } from "./CliFailure.ts"
import { Client, foreign } from "./Client.ts"
import * as Output from "./Output.ts"
import * as SpaceArgument from "./SpaceArgument.ts"

/** The requested page of a list. */
export interface PageRequest {
  readonly space: string
  readonly limit: number
  /** The cursor of the page, as the one before gave it. */
  readonly after: string | undefined
}

/** One page of a list, and the cursor of the next page. */
export interface Page<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: string | number | null | undefined
}

/** A list and its presentation. */
export interface List<Row> {
  readonly name: string
  readonly description: string
  /** The description of the flag `--after`. */
  readonly after: string
  /** The default of the flag `--limit`; 20 unless given. */
  readonly limit?: number
  readonly page: (request: PageRequest) => Effect.Effect<Page<Row>, CliFailure, Client>
  /** The columns of a row. */
  readonly columns: (row: Row) => ReadonlyArray<string>
}

/**
 * The page in an answer, with its rows in the field `rows`. Fails with `server/answer` for an answer without rows or cursor.
 */
export const page = <Row>(answer: unknown, rows: string): Effect.Effect<Page<Row>, CliFailure> => {
  const { [rows]: found, next } = (answer ?? {}) as Readonly<Record<string, unknown>>
  const isPage = Array.isArray(found) && (next === null || typeof next === "string" || typeof next === "number")
  return isPage ? Effect.succeed({ rows: found as ReadonlyArray<Row>, next }) : Effect.fail(foreign(`without "${rows}" and "next"`))
}

/** The most rows and the most pages of one list that a command reads. */
const [MAX_READ, MAX_PAGES] = [100_000, 10_000]

/** The rows of several pages. */
export interface Rows<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Whether there are more than a command reads. */
  readonly isCut: boolean
}

/**
 * The rows of all pages of a list, whose cursors grow. A cursor that does not advance would give pages for ever, and fails
 * with `server/answer`. A list that is longer than a command reads is cut.
 */
export const readPages = <Row, R>(
  fetch: (after: string | undefined) => Effect.Effect<Page<Row>, CliFailure, R>
): Effect.Effect<Rows<Row>, CliFailure, R> =>
  Effect.gen(function*() {
    const rows: Array<Row> = []
    let after: string | number | undefined
    for (let pages = 1; ; pages++) {
      const page: Page<Row> = yield* fetch(after === undefined ? undefined : String(after))
      // A spread of a long page would not fit on the stack.
      for (const row of page.rows) rows.push(row)
      const { next } = page
      if (next === null || next === undefined) return { rows, isCut: false }
      if (typeof next !== typeof (after ?? next) || after !== undefined && next <= after) {
        return yield* foreign(`with the cursor ${JSON.stringify(next)} of a page that was there`)
      }
      if (rows.length >= MAX_READ || pages >= MAX_PAGES) return { rows, isCut: true }
      after = next
    }
  })

/**
 * The parameter of a request that goes on after a cursor.
 */
export const cursorParameter = (after: string | undefined): string => after === undefined ? "" : `&after=${encodeURIComponent(after)}`

/**
 * The failure for a list that a command needs as a whole.
 */
export const endless = (): CliFailure => foreign(`with a list of more than ${MAX_READ} rows or ${MAX_PAGES} pages`)

/**
 * All rows of a list that is needed as a whole. Fails with `server/answer` if it is longer than a command reads.
 */
export const readAll = <Row>(path: string, field: string): Effect.Effect<ReadonlyArray<Row>, CliFailure, Client> =>
  Effect.flatMap(read<Row>(path, field), ({ isCut, rows }) => isCut ? Effect.fail(endless()) : Effect.succeed(rows))

const read = <Row>(path: string, field: string): Effect.Effect<Rows<Row>, CliFailure, Client> =>
  readPages((after) => Client.use((client) =>
    client.ask<unknown>(`${path}${path.includes("?") ? "" : "?"}${cursorParameter(after)}`, { isValue: true })
  ).pipe(Effect.flatMap((answer) => page<Row>(answer, field))))

/**
 * The rows of a list. A note on standard error tells that it is longer than a command reads.
 */
export const readWithNote = <Row>(path: string, field: string): Effect.Effect<ReadonlyArray<Row>, CliFailure, Client> =>
  Effect.flatMap(read<Row>(path, field), ({ isCut, rows }) =>
    Effect.as(isCut ? Output.note(`there are more: these are the first ${rows.length}, and a command reads no more`) : Effect.void, rows))

/**
 * A page as the server returns it from `path` below a space, with its rows in the field `rows`. `query` is added to the
 * parameters of the request.
 */
export const serverPage = <Row>(path: string, rows: string, query = "") => ({ after, limit, space }: PageRequest) =>
  Client.use((client) =>
    client.ask<unknown>(`${SpaceArgument.path(space)}/${path}?limit=${limit}${cursorParameter(after)}${query}`, { isValue: true })
  ).pipe(Effect.flatMap((answer) => page<Row>(answer, rows)))

/** The order of the rows of a list by their ids, and the name of the id. */
export interface Order {
  readonly order: (a: unknown, b: unknown) => number
  readonly id: string
}

/**
 * A page of a list in an order of its own: it reads all rows, and goes on after the row of an id.
 */
export const orderedPage = <Row>(path: string, field: string, { id, order }: Order) => ({ after, limit, space }: PageRequest) =>
  Effect.map(readWithNote<Row & Record<string, unknown>>(`${SpaceArgument.path(space)}/${path}?limit=${MAX_PAGE}`, field), (found) => {
    const sorted = [...found].sort(order)
    // The row of the cursor may be gone by now.
    const rest = after === undefined ? sorted : sorted.filter((row) => order(row, { [id]: after }) > 0)
    const rows: ReadonlyArray<Row & Readonly<Record<string, unknown>>> = rest.slice(0, limit)
    return { rows, next: rest.length > limit ? rows.at(-1)?.[id] as string : undefined }
  })

/** The most rows of a page of a list that is read as a whole. */
const MAX_PAGE = 1000

/** The parameters of a list. */
const parameters = <Row>({ after, limit = 20 }: List<Row>) => ({
  space: SpaceArgument.name,
  limit: Flag.Int("limit").pipe(
    Flag.withDescription("At most this many"),
    Flag.filter((limit) => limit >= 0, (limit) => `${limit} is no count; use a whole number from 0`),
    Flag.withDefault(limit)
  ),
  after: Flag.String("after").pipe(Flag.withDescription(after), Flag.optional),
  json: Output.json
})

/** The values of the parameters. */
interface Given {
  readonly space: string
  readonly limit: number
  readonly after: Option.Option<string>
  readonly json: boolean
}

const print = <Row>({ columns, page }: List<Row>, { after, json, limit, space }: Given) =>
  Effect.gen(function*() {
    const { next, rows } = yield* page({ space, limit, after: Option.getOrUndefined(after) })
    yield* Output.data(json, rows, Output.table(rows.map(columns)))
    if (next !== null && next !== undefined) yield* Output.note(`there are more: --after ${next}`)
  })

/**
 * The command that prints a list, and on standard error the cursor of the next page.
 */
export const command = <Row>(list: List<Row>) =>
  Command.make(list.name, parameters(list), (given) => print(list, given)).pipe(Command.withDescription(list.description))

/** A flag that narrows a list down, and the pages of the narrowed list. */
export interface Narrowing<Row> {
  readonly name: string
  readonly description: string
  readonly page: List<Row>["page"]
}

/**
 * The same command with a flag that narrows the list down.
 */
export const withFilter = <Row>(list: List<Row>, { description, name, page }: Narrowing<Row>) => {
  const flag = Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))
  return Command.make(list.name, { ...parameters(list), flag }, ({ flag, ...given }) => print(flag ? { ...list, page } : list, given)).pipe(
    Command.withDescription(list.description)
  )
}
