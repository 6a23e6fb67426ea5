/**
 * The contract of persistence: content is kept while it is held, and for a time after it came.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Batch, SpaceStore } from "../../../persistence/Persistence.ts"
import { holds, same } from "./Check.ts"
import { cell, inbox, using, write } from "./Batches.ts"
import * as Random from "./Random.ts"
import type { Group } from "./StoreTest.ts"

const hour = 3_600_000

/** Beats are kept for four hours, content for a day. */
const options = { create: true, retention: { journalMillis: 4 * hour, contentMillis: 24 * hour } }

const bytesOf = (name: string) => new TextEncoder().encode(name)
/** A digest by which content goes: a store takes each for granted. */
const hashOf = (name: string) => Array.from(bytesOf(name), (byte) => byte.toString(16)).join("").padEnd(64, "0")
const at = (name: string) => `"/cas/${hashOf(name)}"`

/** Beats of one store, a given number of hours after the first. */
const beats = (store: SpaceStore) => {
  let last = store.head().beat
  const beat = (hours: number, parts: Partial<Batch> = {}, text = "{}"): Batch =>
    inbox({ entry: { beat: ++last, clock: hours * hour, text, hash: `hash${last}` }, ...parts })
  return {
    beat,
    /** As many beats as have the store look for old rows. */
    pass: (hours: number) =>
      Effect.gen(function*() {
        for (let i = 0; i < 3; i++) yield* write(store, ...Array.from({ length: 200 }, () => beat(hours)))
      })
  }
}

const upload = (store: SpaceStore, name: string): void => {
  const writer = store.writeBlob()
  writer.write(bytesOf(name))
  writer.finish(hashOf(name))
}

const kept = (store: SpaceStore, ...names: ReadonlyArray<string>) => names.filter((name) => store.holds(hashOf(name)))

/** Content that is held, and content that is not. */
export const content: Group = {
  "lets go of content without a mention, not before its time, and takes it in again": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const { beat, pass } = beats(store)
        upload(store, "uploaded")
        yield* write(store, beat(0, { blobs: [{ hash: hashOf("made"), bytes: bytesOf("made") }] }))
        yield* pass(23)
        same(kept(store, "uploaded", "made"), ["uploaded", "made"])
        yield* pass(25)
        same(kept(store, "uploaded", "made"), [])
        same(store.blob(hashOf("made")), undefined)
        upload(store, "made")
        yield* write(store, beat(26))
        same(store.blob(hashOf("made")), bytesOf("made"))
        yield* pass(49)
        same(kept(store, "made"), ["made"])
      }), options),

  "keeps content as long as a document, a signal that waits or a kept beat mentions it": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const { beat, pass } = beats(store)
        const names = ["cell", "signal", "beat", "nothing"]
        for (const name of names) upload(store, name)
        const queued = [{ seq: 7, id: "q", text: `{"payload":${at("signal")}}` }]
        yield* write(store, beat(0, { cells: [cell("/data/a", `{"at":${at("cell")}}`)], queued }))
        yield* pass(48)
        same(kept(store, ...names), ["cell", "signal"])
        upload(store, "beat")
        yield* write(store, beat(49))
        yield* write(store, beat(73, {}, `{"said":${at("beat")}}`))
        yield* pass(75)
        same(kept(store, ...names), ["cell", "signal", "beat"])
        yield* write(store, beat(75, { cells: [cell("/data/a", `{"at":${at("beat")}}`), cell("/data/b", at("cell"))], dequeued: [7] }))
        yield* pass(125)
        same(kept(store, ...names), ["cell", "beat"])
        yield* write(store, beat(126, { cells: [cell("/data/a", undefined), cell("/data/b", "1")] }))
        yield* pass(175)
        same(kept(store, ...names), [])
      }), options),

  "counts the time of content from the first beat after it came, and anew when it comes again": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const { beat, pass } = beats(store)
        yield* write(store, beat(0))
        upload(store, "late")
        upload(store, "again")
        yield* store.flush
        yield* pass(100)
        same(kept(store, "late", "again"), ["late", "again"])
        upload(store, "again")
        yield* store.flush
        yield* write(store, beat(120))
        yield* pass(130)
        same(kept(store, "late", "again"), ["again"])
      }), options),

  "keeps content that is mentioned before it comes, and with two mentions until both are gone, through a reopening": () =>
    Effect.gen(function*() {
      const cells = ["/data/a", "/data/b"].map((key) => cell(key, at("early")))
      yield* using("shop", (store) => write(store, beats(store).beat(0, { cells })), options)
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          upload(store, "early")
          yield* beats(store).pass(30)
        }), options)
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const { beat, pass } = beats(store)
          yield* write(store, beat(31, { cells: [cell("/data/a", undefined)] }))
          yield* pass(90)
          same(kept(store, "early"), ["early"])
          yield* write(store, beat(91, { cells: [cell("/data/b", undefined)] }))
          yield* pass(150)
          same(kept(store, "early"), [])
        }), options)
    }),

  "drops large content a few parts at a time": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const { beat, pass } = beats(store)
        const names = Array.from({ length: 5 }, (_, i) => `large${i}`)
        const part = new Uint8Array(1_048_576)
        for (const name of names) {
          const writer = store.writeBlob()
          for (let i = 0; i < 33; i++) writer.write(part)
          writer.finish(hashOf(name))
        }
        yield* write(store, beat(0))
        yield* write(store, ...Array.from({ length: 300 }, () => beat(25)))
        same(kept(store, ...names).length, 3)
        yield* write(store, beat(25))
        same(kept(store, ...names).length, 1)
        yield* pass(26)
        same(kept(store, ...names), [])
      }), { create: true, retention: { ...options.retention, journalBytes: 1 } })
}

/** Random work against a reference model of the references. */
export const references = (seeds: ReadonlyArray<number>): Group => Object.fromEntries(seeds.map((seed) => [
  `never lets go of held content, and lets go of all other content in the end (seed ${seed})`,
  () => model(seed)
]))

/** The holders of content in the reference model. */
interface Held {
  readonly cells: Map<string, ReadonlyArray<string>>
  readonly queue: Map<number, ReadonlyArray<string>>
  /** By the beat's number. */
  readonly journal: Map<number, ReadonlyArray<string>>
  /** The hour at which it came last. */
  readonly came: Map<string, number>
}

const names = ["a", "b", "c", "d", "e"]

const model = (seed: number) =>
  Effect.gen(function*() {
    const draw = Random.make(seed)
    const held: Held = { cells: new Map(), queue: new Map(), journal: new Map(), came: new Map() }
    let hours = 0
    for (let life = 0; life < 4; life++) {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const { beat } = beats(store)
          for (let step = 0; step < 12; step++) {
            hours += draw(16)
            yield* write(store, ...randomGroup(draw, { store, held, hours, beat }), ...Array.from({ length: 256 }, () => beat(hours)))
            expectHeld(store, held, hours)
          }
        }), options)
    }
    yield* using("shop", (store) =>
      Effect.gen(function*() {
        const { beat, pass } = beats(store)
        const cells = [...held.cells.keys()].map((key) => cell(key, undefined))
        yield* write(store, beat(hours, { cells, dequeued: [...held.queue.keys()] }))
        for (const days of [2, 4, 6]) yield* pass(hours + days * 24)
        same(kept(store, ...names), [])
      }), options)
  })

interface Scene {
  readonly store: SpaceStore
  readonly held: Held
  readonly hours: number
  readonly beat: (hours: number, parts?: Partial<Batch>, text?: string) => Batch
}

/** One group: content comes, documents and signals come and go, and beats mention it. */
const randomGroup = (draw: Random.Random, { beat, held, hours, store }: Scene): ReadonlyArray<Batch> => {
  const some = () => names.filter(() => draw(4) === 0)
  const text = (named: ReadonlyArray<string>) => `[${named.map(at).join()}]`
  for (const name of some()) {
    upload(store, name)
    held.came.set(name, hours)
  }
  return Array.from({ length: 1 + draw(3) }, () => {
    const [key, seq] = [`/data/${draw(4)}`, held.queue.size + 1000 * draw(1000)]
    const [written, waiting, told] = [some(), some(), some()]
    const dequeued = [...held.queue.keys()].filter(() => draw(2) === 0)
    for (const gone of dequeued) held.queue.delete(gone)
    if (draw(3) === 0) held.cells.delete(key)
    else held.cells.set(key, written)
    const isNew = !held.queue.has(seq) && !dequeued.includes(seq)
    if (isNew) held.queue.set(seq, waiting)
    const batch = beat(hours, {
      cells: [cell(key, held.cells.has(key) ? text(written) : undefined)],
      queued: isNew ? [{ seq, text: text(waiting) }] : [],
      dequeued
    }, text(told))
    if (batch.entry !== undefined) held.journal.set(batch.entry.beat, told)
    return batch
  })
}

const expectHeld = (store: SpaceStore, held: Held, hours: number): void => {
  const { beat } = store.anchor()
  const mentioned = new Set([
    ...[...held.cells.values(), ...held.queue.values()].flat(),
    ...[...held.journal].flatMap(([number, told]) => number > beat ? told : [])
  ])
  for (const [name, came] of held.came) {
    const isKept = store.holds(hashOf(name))
    if (!isKept) {
      // Where it is gone it has to come again before anybody can hold it.
      held.came.delete(name)
      holds(!mentioned.has(name), `${name} is mentioned at hour ${hours}`)
      holds(came + 24 <= hours, `${name} came at hour ${came} and it is ${hours}`)
    } else same(store.blob(hashOf(name)), bytesOf(name))
  }
}
