/**
 * Slices as the ingress takes them: the slice of a kernel, with its routes.
 *
 * @module
 */
import type { Face, Kinds } from "../../contract/Face.ts"
import type { Command } from "../../ledger/Command.ts"
import type { Outside } from "../../ledger/Outside.ts"
import * as SliceTable from "../../ledger/SliceTable.ts"
import type { KernelSlice } from "../../kernel/api/Slice.ts"
import * as SpaceFace from "../../kernel/api/SpaceFace.ts"
import * as FaceRoutes from "./FaceRoutes.ts"
import type { RuntimeList } from "./RuntimeLists.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/**
 * A slice of the runtime: a ledger with its face, or a group of routes.
 */
export interface Slice extends KernelSlice {
  /** The face of its ledger. The commands of the ledger and its part of the reference are made from it. */
  readonly face?: Face
  /** Its routes that concern no space. */
  readonly lists?: ReadonlyArray<RuntimeList>
  /** Adds its routes that concern a space. */
  readonly routes?: (table: SpaceTable, context: RouteContext) => void
}

/** A ledger with its outside, and a part or routes in place of those that are made from its face. */
export interface LedgerParts<K extends Kinds, C extends Command> extends Omit<Slice, "face" | "name"> {
  readonly outside: Outside<K, C>
}

/**
 * The slice of a ledger.
 */
export const ofLedger = <K extends Kinds, C extends Command>(name: string, { outside, ...given }: LedgerParts<K, C>): Slice => ({
  name,
  face: outside.face as unknown as Face,
  part: SpaceFace.part(outside),
  routes: (table, context) => FaceRoutes.routes(table, outside.face, context),
  ...given
})

/** Whether a path is that of a route or one below it. */
const isAt = (route: string, path: string): boolean => {
  const asked = path.split("/")
  return route.split("/").every((part, i) => part.startsWith(":") ? asked[i] !== undefined : part === asked[i])
}

/**
 * The failure for a path of a slice that is not among the given ones; `undefined` for any other path.
 */
export const absentAt = (slices: ReadonlyArray<Pick<Slice, "name">>, path: string): SliceTable.SliceAbsent | undefined => {
  const slice = SliceTable.absent(slices).find((name) => SliceTable.routesOf(name).some((route) => isAt(route, path)))
  return slice === undefined ? undefined : new SliceTable.SliceAbsent({ slice })
}
