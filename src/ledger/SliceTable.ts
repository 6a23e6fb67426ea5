/**
 * The slices of the runtime that a build may leave out, as plain data: a ledger, or a group of routes.
 *
 * A build without a slice has none of its code, so its messages about that slice are here.
 *
 * @module
 */
import * as Data from "effect/Data"
import { SPACE } from "../contract/Paths.ts"
import * as SlicePaths from "../contract/SlicePaths.ts"

/** A slice, as far as a runtime without it has to know it. */
export interface Place {
  /** The name of its ledger, and the folders that have documents where the ledger has records. */
  readonly ledger?: { readonly name: string; readonly folders: ReadonlyArray<string> }
  /** Its part of the API of a space, and of the path of its routes. */
  readonly part?: string
  /** The paths of its other routes. */
  readonly routes?: ReadonlyArray<string>
  /** The slices without which it cannot be used. */
  readonly needs?: ReadonlyArray<string>
}

/** The slices by their names, in the order in which a beat advances their ledgers. Each follows those that it needs. */
export const table = {
  rendezvous: { part: "rv", ledger: { name: "rv", folders: ["/data/rv"] } },
  flows: { part: "flows", ledger: { name: "flow", folders: ["/data/flow/inst"] }, routes: [SlicePaths.FLOWS], needs: ["rendezvous"] },
  requests: { part: "io", ledger: { name: "io", folders: ["/rt/ops/OPS:io/io_req"] } },
  durable: { part: "runs", ledger: { name: "run", folders: ["/sys/index/run"] }, needs: ["requests"] },
  history: { routes: Object.values(SlicePaths.HISTORY) },
  archive: { routes: Object.values(SlicePaths.ARCHIVE) },
  graph: { part: "graph" },
  debug: { part: "debug" }
} as const satisfies Readonly<Record<string, Place>>

/** The name of a slice that a build may leave out. */
export type SliceName = keyof typeof table

/** The names of these slices, in their order. */
export const names = Object.keys(table) as ReadonlyArray<SliceName>

/** The table with each place in its widest form. */
export const places: Readonly<Record<SliceName, Place>> = table

/** The slices of the table that are not among the given ones. */
export const absent = (given: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<SliceName> =>
  names.filter((name) => !given.some((slice) => slice.name === name))

/**
 * The paths of the routes of a slice.
 */
export const routesOf = (name: SliceName): ReadonlyArray<string> => {
  const { part, routes = [] } = places[name]
  return part === undefined ? routes : [`${SPACE}/${part}`, ...routes]
}

/**
 * The slice of a ledger.
 */
export const ofLedger = (ledger: string): SliceName | undefined => names.find((name) => places[name].ledger?.name === ledger)

/**
 * The way to a runtime with a slice.
 */
export const remedy = (slice: string): string => `Take "${slice}" out of the field without of the configuration; a build is made again`

/**
 * A request, a command or a run needs a slice that the runtime is without.
 */
export class SliceAbsent extends Data.TaggedError("SliceAbsent")<{ readonly slice: string }> {
  readonly code = "slice/absent"
  override get message() {
    return `This runtime is without ${this.slice}. ${remedy(this.slice)}`
  }
}
