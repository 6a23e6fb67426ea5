/**
 * A stream of the client over a restart of its server, and over one with another store. It runs on each host, so it imports the client
 * alone.
 *
 * @module
 */
import { connect, type Update } from "../../src/client/index.ts"

/** A server that the journey starts again. */
export interface Place {
  /** Its address now. */
  readonly url: () => string | Promise<string>
  /** Kills it and starts it again. */
  readonly again: () => Promise<unknown>
  /** Starts it with another store, in which the cell `/data/n` is 9. */
  readonly replace: () => Promise<unknown>
}

/** The values that the stream gave, each with its reset, and their cursors; then whether it ended with its abort. */
export interface Journey {
  readonly told: ReadonlyArray<readonly [value: unknown, reset: string | null]>
  readonly cursors: ReadonlyArray<string>
  readonly isDone: boolean
}

/** The space `home` at a place whose address changes. */
const homeOf = ({ url }: Place) =>
  connect({ platform: { fetch: async (path, init) => fetch(await url() + path, init) } }).space("home")

/** Follows the cell `/data/n` while it changes, and its server with it. */
export const journey = async (place: Place): Promise<Journey> => {
  const home = homeOf(place)
  await home.set("/data/n", 1)
  const ending = new AbortController()
  const updates = home.watch("/data/n", { abort: ending.signal })[Symbol.asyncIterator]()
  const taken: Array<Update<unknown>> = []
  const take = async (): Promise<void> => void taken.push((await updates.next()).value as Update<unknown>)
  await take()
  await place.again()
  for (const n of [2, 3]) {
    await home.set("/data/n", n)
    await take()
  }
  await place.replace()
  await take()
  await home.set("/data/n", 10)
  await take()
  ending.abort()
  return {
    told: taken.map(({ reset, value }) => [value, reset ?? null]),
    cursors: taken.map(({ cursor }) => cursor),
    isDone: (await updates.next()).done === true
  }
}
