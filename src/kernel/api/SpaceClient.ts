/**
 * The API of a space: each member is one request to the open space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { places, SliceAbsent, type SliceName } from "../../ledger/SliceTable.ts"
import type { ClearedView } from "../view/ClearedView.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type { PartName, Reader, Space, SpaceControl, SpaceParts, Viewer } from "../view/Space.ts"
import type { Access } from "./Access.ts"
import type { LiveSpace } from "../live/LiveSpace.ts"
import type { SpaceStorage } from "../view/StoreView.ts"
import type { SpacePart } from "./SpacePart.ts"

/** A method of a part of an open space. */
type Method = (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>

/** The names of the methods of a part. */
type Names<Part> = { readonly [Name in keyof Part]: Part[Name] extends Method ? Name : never }[keyof Part]

/** Methods of a part of an open space, each as one request to the space. */
const through = <Key extends keyof LiveSpace, const Name extends Names<LiveSpace[Key]>>(
  access: Access,
  key: Key,
  names: ReadonlyArray<Name>
): Pick<LiveSpace[Key], NoInfer<Name>> =>
  Object.fromEntries(names.map((name) =>
    [name, (...args: ReadonlyArray<never>) => access.use((space) => (space[key] as Record<Name, Method>)[name](...args))]
  )) as Pick<LiveSpace[Key], Name>

const controlOf = (access: Access): SpaceControl => ({
  ...through(access, "commands", [
    "pause", "rollback", "resume", "shutdown", "restart", "command", "lock", "unlock", "resetClock", "releaseDetached"
  ]),
  state: Effect.orDie(access.use(({ commands }) => commands.state)),
  clock: access.use(({ commands }) => commands.clock),
  detached: access.use(({ lists }) => lists.detached),
  hold: access.use(({ commands }) => commands.hold),
  release: access.use(({ commands }) => commands.release)
})

const storageOf = (access: Access): SpaceStorage => ({
  status: access.use(({ storage: { upgrade } }) => upgrade.status),
  finish: access.use(({ storage: { upgrade } }) => upgrade.finish),
  carry: (page) => access.use(({ storage: { upgrade } }) => upgrade.carry(page)),
  prune: (before) => access.use(({ storage: { pruning } }) => pruning.before(before))
})

const readerOf = (access: Access, clearance: Viewer): Reader => {
  const use = <A, E>(see: (view: ClearedView) => Effect.Effect<A, E>) => access.use(({ reader }) => see(reader(clearance)))
  return {
    get: (text, options) => use((view) => view.get(text, options)),
    list: (id) => use((view) => view.list(id)),
    names: (id, page) => use((view) => view.names(id, page)),
    below: (id, page) => use((view) => view.below(id, page)),
    admit: (text) => use((view) => view.admit(text)),
    watch: (text, last) => access.stream(({ reader }) => reader(clearance).watch(text, last)),
    receipt: (id) => use((view) => view.receipt(id)),
    signal: (request) => use((view) => view.signal(request)),
    post: (request, hears) => access.post(hears.fail, ({ reader }) => reader(clearance).post(request, hears)),
    blobPart: (hash, part) => use((view) => view.blobPart(hash, part)),
    waiting: (page) => use((view) => view.waiting(page))
  }
}

/** The readers of a space by their clearance: one with the same clearance asks with each request. */
const readersOf = (access: Access): Space["reader"] => {
  const known = new WeakMap<Viewer, Reader>()
  return (clearance) => {
    const reader = known.get(clearance) ?? readerOf(access, clearance)
    known.set(clearance, reader)
    return reader
  }
}

/** The API of a space, without the parts of slices. */
const clientOf = (access: Access, readerState: ReaderState): Omit<Space, PartName> => ({
  ...through(access, "signals", ["signal", "handled"]),
  ...through(access, "receipts", ["receipt", "receipts", "settled", "letter"]),
  ...through(access, "commands", ["set", "integrate", "start", "stop"]),
  ...through(access, "lists", ["dead", "waiting", "list", "names", "below", "cells", "beatsBefore"]),
  ...through(access, "queries", ["get"]),
  ...through(access, "history", ["examine"]),
  pin: access.hold(({ storage: { pins } }) => pins.begin),
  ...through(access, "contents", ["receive", "blob", "blobPart"]),
  name: access.name,
  post: (request, hears) => access.post(hears.fail, ({ signals }) => signals.post(request, hears)),
  bind: (cell, enzyme, { propagate = true } = {}) =>
    access.use(({ commands }) => commands.bind({ cell, enzyme, propagate, tombstone: false })),
  unbind: (cell, enzyme) => access.use(({ commands }) => commands.bind({ cell, enzyme, propagate: true, tombstone: true })),
  redeliver: (text, enzyme) => access.use(({ commands, receipts }) =>
    Effect.flatMap(receipts.idOfLetter(text, enzyme), (id) => commands.redeliver(id, enzyme))),
  control: controlOf(access),
  storage: storageOf(access),
  step: access.use(({ commands }) => commands.step),
  idle: access.use(({ publication }) => publication.idle),
  watch: (address, options) => access.stream(({ queries }) => queries.watch(address, options)),
  pull: (address, options) => access.use(({ queries }) => queries.value(address, options)),
  reader: readersOf(access),
  denials: Effect.sync(() => [...readerState.denials]),
  head: Effect.orDie(access.use(({ barrier }) => Effect.sync(() => barrier.durable))),
  journal: (beat) => access.use(({ reads }) => reads.read((rows) => rows.entry(beat))),
  beats: Stream.orDie(access.stream(({ listeners }) => listeners.beats)),
  content: access.use(({ contents }) => contents.uploads.begin)
})

/** The parts of the API of each space of a kernel, and the slices whose parts it has not. */
export interface Api {
  readonly parts: ReadonlyArray<SpacePart>
  readonly absent: ReadonlyArray<SliceName>
}

/**
 * The API of a space with the parts of its slices. The use of a part that it has not throws `SliceAbsent`.
 */
export const make = ({ absent, parts }: Api, access: Access, readerState: ReaderState): Space => {
  const client = clientOf(access, readerState)
  for (const slice of absent) {
    const { part } = places[slice]
    if (part !== undefined) Object.defineProperty(client, part, {
      get: () => {
        throw new SliceAbsent({ slice })
      }
    })
  }
  const made: object = Object.fromEntries(parts.map(({ make, name }) => [name, make(access)]))
  return Object.assign(client, made as SpaceParts)
}
