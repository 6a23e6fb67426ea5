/**
 * The slices of the runtime: all that it has beside cells, signals, derived cells and operations.
 *
 * A build imports those that its configuration leaves in, and the bundler drops the code of the others.
 *
 * @module
 */
import type { Slice } from "../../ingress/route/Slice.ts"
import type { SliceName } from "../../ledger/SliceTable.ts"
import { slice as archive } from "../slice/archive.ts"
import { slice as debug } from "../slice/debug.ts"
import { slice as durable } from "../slice/durable.ts"
import { slice as flows } from "../slice/flows.ts"
import { slice as graph } from "../slice/graph.ts"
import { slice as history } from "../slice/history.ts"
import { slice as rendezvous } from "../slice/rendezvous.ts"
import { slice as requests } from "../slice/requests.ts"

// The types of a space and of a transaction have the faces of its ledgers wherever the package is imported.
export type {} from "../../durable/Face.ts"
export type {} from "../../flow/Face.ts"
export type {} from "../../flow/Ledger.ts"
export type {} from "../../operation/Face.ts"
export type {} from "../../operation/Ledger.ts"
export type {} from "../../reactor/Ledger.ts"
export type {} from "../../rendezvous/Face.ts"
export type {} from "../../rendezvous/Ledger.ts"

/**
 * All slices, in the order in which a beat advances their ledgers.
 *
 * @category slices
 * @since 0.2.0
 */
export const all: ReadonlyArray<Slice> = [rendezvous, flows, requests, durable, history, archive, graph, debug]

/**
 * Slices without those that a configuration leaves out.
 *
 * @category getters
 * @since 0.2.0
 */
export const without = (slices: ReadonlyArray<Slice>, names: ReadonlyArray<SliceName>): ReadonlyArray<Slice> =>
  slices.filter(({ name }) => !(names as ReadonlyArray<string>).includes(name))
