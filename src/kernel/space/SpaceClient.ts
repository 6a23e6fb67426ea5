/**
 * The API of a space: each member is one request to the open space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { places, SliceAbsent, type SliceName } from "../../ledger/SliceTable.ts"
import { ClearedView } from "../view/ClearedView.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type { PartName, Reader, Space, SpaceControl, SpaceParts, Viewer } from "../view/Space.ts"
import type { Access } from "./Access.ts"
import type { SpacePart } from "./SpacePart.ts"

const controlOf = (access: Access): SpaceControl => ({
  state: Effect.orDie(access.use(({ commands }) => commands.state)),
  pause: () => access.use(({ commands }) => commands.pause()),
  rollback: (to) => access.use(({ commands }) => commands.rollback(to)),
  resume: () => access.use(({ commands }) => commands.resume()),
  shutdown: () => access.use(({ commands }) => commands.shutdown()),
  restart: () => access.use(({ commands }) => commands.restart()),
  command: (ledger, command) => access.use(({ commands }) => commands.command(ledger, command)),
  lock: (cell) => access.use(({ commands }) => commands.lock(cell)),
  unlock: (cell) => access.use(({ commands }) => commands.unlock(cell)),
  clock: access.use(({ commands }) => commands.clock),
  resetClock: () => access.use(({ commands }) => commands.resetClock()),
  hold: access.use(({ commands }) => commands.hold),
  release: access.use(({ commands }) => commands.release)
})

const readerOf = (access: Access, clearance: Viewer): Reader => {
  const use = <A, E>(see: (view: ClearedView) => Effect.Effect<A, E>) => access.use((space) => see(new ClearedView(space, clearance)))
  return {
    get: (text, options) => use((view) => view.get(text, options)),
    list: (id) => use((view) => view.list(id)),
    names: (id, page) => use((view) => view.names(id, page)),
    below: (id, page) => use((view) => view.below(id, page)),
    admit: (text) => use((view) => view.admit(text)),
    watch: (text, last) => access.stream((space) => new ClearedView(space, clearance).watch(text, last)),
    receipt: (id) => use((view) => view.receipt(id)),
    settled: (id) => use((view) => view.settled(id)),
    signal: (request) => use((view) => view.signal(request)),
    blobPart: (hash, part) => use((view) => view.blobPart(hash, part)),
    waiting: (page) => use((view) => view.waiting(page))
  }
}

/** The API of a space, without the parts of slices. */
const clientOf = (access: Access, readerState: ReaderState): Omit<Space, PartName> => ({
  name: access.name,
  signal: (request) => access.use(({ signals }) => signals.signal(request)),
  post: (request, hears) => access.post(request, hears),
  handled: (request) => access.use(({ signals }) => signals.handled(request)),
  receipt: (id) => access.use(({ receipts }) => receipts.receipt(id)),
  receipts: (text) => access.use(({ receipts }) => receipts.receipts(text)),
  settled: (id) => access.use(({ receipts }) => receipts.settled(id)),
  set: (address, value, options) => access.use(({ commands }) => commands.set(address, value, options)),
  integrate: (change) => access.use(({ commands }) => commands.integrate(change)),
  bind: (cell, enzyme, { propagate = true } = {}) =>
    access.use(({ commands }) => commands.bind({ cell, enzyme, propagate, tombstone: false })),
  unbind: (cell, enzyme) => access.use(({ commands }) => commands.bind({ cell, enzyme, propagate: true, tombstone: true })),
  dead: (page) => access.use(({ lists }) => lists.dead(page)),
  waiting: (page) => access.use(({ lists }) => lists.waiting(page)),
  letter: (id, enzyme) => access.use(({ receipts }) => receipts.letter(id, enzyme)),
  redeliver: (text, enzyme) => access.use(({ commands, receipts }) =>
    Effect.flatMap(receipts.idOfLetter(text, enzyme), (id) => commands.redeliver(id, enzyme))),
  control: controlOf(access),
  start: (module, inputs) => access.use(({ commands }) => commands.start(module, inputs)),
  stop: (piece) => access.use(({ commands }) => commands.stopPiece(piece)),
  step: access.use(({ commands }) => commands.step),
  idle: access.use(({ idle }) => idle),
  get: (address) => access.use(({ queries }) => queries.get(address)),
  list: (id) => access.use(({ lists }) => lists.list(id)),
  names: (id, page) => access.use(({ lists }) => lists.names(id, page)),
  below: (id, page) => access.use(({ lists }) => lists.below(id, page)),
  cells: (id, page) => access.use(({ lists }) => lists.cells(id, page)),
  beatsBefore: (before, limit) => access.use(({ lists }) => lists.beatsBefore(before, limit)),
  watch: (address, options) => access.stream(({ queries }) => queries.watch(address, options)),
  pull: (address, options) => access.use(({ queries }) => queries.value(address, options)),
  reader: (clearance) => readerOf(access, clearance),
  denials: Effect.sync(() => [...readerState.denials]),
  head: Effect.orDie(access.use(({ group }) => Effect.sync(() => group.durable))),
  journal: (beat) => access.use(({ reads, state }) => reads.read(() => state.store.entry(beat))),
  examine: (look) => access.use(({ history }) => history.examine(look)),
  beats: Stream.orDie(access.stream(({ listeners }) => listeners.beats)),
  content: access.use(({ contents }) => contents.uploads.begin),
  receive: (chunks) => access.use(({ contents }) => contents.receive(chunks)),
  blob: (hash) => access.use(({ contents }) => contents.blob(hash)),
  blobPart: (hash, part) => access.use(({ contents }) => contents.blobPart(hash, part))
})

/** The parts of the API of each space of a kernel, and the slices whose parts it has not. */
export interface Api {
  readonly parts: ReadonlyArray<SpacePart>
  readonly absent: ReadonlyArray<SliceName>
}

/**
 * The API of a space with the parts of its slices. The use of a part that it has not throws `SliceAbsent`.
 *
 * @category constructors
 * @since 0.2.0
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
