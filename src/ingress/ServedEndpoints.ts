/**
 * The endpoints of an application without a space: for pages and documents that list them.
 *
 * @module
 */
import type { Endpoint } from "../contract/Endpoint.ts"
import { hash } from "../persistence/PureSha256.ts"
import * as App from "./App.ts"
import type { Slice } from "./route/Slice.ts"

/** The service of a route that is listed, and never called. */
const uncalled = {} as never

/**
 * The endpoints of a host with these slices, in the order of their routes. `isDebugged` adds those of a development host.
 */
export const of = (slices: ReadonlyArray<Slice>, { isDebugged }: { readonly isDebugged: boolean }): ReadonlyArray<Endpoint> => {
  const tokens = { set: uncalled, admin: uncalled, sessions: uncalled }
  const { signal: closing } = new AbortController()
  const host = { token: undefined, loopback: true, reporter: uncalled, closing, pages: {}, debug: isDebugged }
  return App.make({ slices, kernel: uncalled, hash }, { ...host, tokens }).table.endpoints
}
