/**
 * The client of a host: its trips to one server, and the journey of its stream at another.
 *
 * @module
 */
import { journey } from "../client/Journey.ts"
import { travel } from "../client/Trips.ts"

/** The addresses of the server of the trips, and of the one that tells and changes the server of the stream. */
export interface Addresses {
  readonly trips: string
  readonly control: string
}

/** Runs the client of this host. */
export const run = async ({ control, trips }: Addresses) => {
  const told = async (path: string): Promise<string> => (await fetch(control + path, { method: "POST" })).text()
  return {
    host: navigator.userAgent,
    trips: await travel({ fetch: (path, init) => fetch(trips + path, init) }),
    journey: await journey({ url: () => told("/url"), again: () => told("/again"), replace: () => told("/replace") })
  }
}

/** The report of a client. */
export type Report = Awaited<ReturnType<typeof run>>
