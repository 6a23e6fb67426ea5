/**
 * Each list of a space, page by page.
 *
 * @module
 */
import { Effect } from "effect"
import type { Space } from "systole"
import { COUNT } from "./ListedSpace.ts"

/** A page of any list. */
interface AnyPage {
  readonly rows: ReadonlyArray<unknown>
  readonly next: string | number | undefined
}

type List = (space: Space, after: string | number | undefined) => Effect.Effect<AnyPage, unknown>

/** The rows that each page is asked for. */
export const limit = 1000

const reader = (space: Space) => space.reader({ name: "web", atoms: [] })
const text = (after: string | number | undefined): string | undefined => after === undefined ? undefined : String(after)

/** Each list, with the fewest records that it shows. */
export const lists: Readonly<Record<string, readonly [List, number]>> = {
  cells: [(space, after) =>
    Effect.map(space.cells("/data", { after: text(after), limit }), ({ cells, next }) => ({ rows: cells, next })), 2 * COUNT],
  values: [(space, after) =>
    Effect.map(space.cells("/data", { after: text(after), limit, size: 1e6 }), ({ cells, next }) => ({ rows: cells, next })), 2 * COUNT],
  "cells of a reader": [(space, after) =>
    Effect.map(reader(space).below("/data", { after: text(after), limit }), ({ keys, next }) => ({ rows: keys, next })), COUNT],
  waiting: [(space, after) =>
    Effect.map(space.waiting({ after: after as number, limit }), ({ next, waiting }) => ({ rows: waiting, next })), 2 * COUNT],
  "waiting of a reader": [(space, after) =>
    Effect.map(reader(space).waiting({ after: text(after), limit }), ({ next, waiting }) => ({ rows: waiting, next })), COUNT],
  beats: [(space, after) =>
    Effect.map(space.beatsBefore(after as number ?? 1e9, limit), ({ next, rows }) => ({ rows, next })), COUNT],
  dead: [(space, after) => Effect.map(space.dead({ after: text(after), limit }), ({ letters, next }) => ({ rows: letters, next })), COUNT],
  operations: [(space, after) =>
    Effect.map(space.ops.list({ after: text(after), limit }), ({ next, operations }) => ({ rows: operations, next })), COUNT],
  rendezvous: [(space, after) =>
    Effect.map(space.rv.list({ after: text(after), limit }), ({ next, rendezvous }) => ({ rows: rendezvous, next })), COUNT],
  requests: [(space, after) =>
    Effect.map(space.io.list({ after: text(after), limit }), ({ next, requests }) => ({ rows: requests, next })), COUNT],
  "open requests": [(space, after) =>
    Effect.map(space.io.list({ after: text(after), limit, open: true }), ({ next, requests }) => ({ rows: requests, next })), COUNT],
  drains: [(space, after) =>
    Effect.map(space.io.drains({ before: after as number, limit }), ({ drains, next }) => ({ rows: drains, next })), 0],
  runs: [(space, after) => Effect.map(space.runs.list({ after: text(after), limit }), ({ next, runs }) => ({ rows: runs, next })), COUNT],
  "all runs": [(space, after) =>
    Effect.map(space.runs.list({ after: text(after), limit, all: true }), ({ next, runs }) => ({ rows: runs, next })), COUNT]
}
