/**
 * Large content of one space: uploads to the content store, reads of parts, and the collection of objects without a use.
 *
 * Below the name of its space and of its upload, content has an object with its digest and one for each part. The descriptor
 * is stored last. Objects that no descriptor names are deleted a day after their last change, a page with each upload.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import { PART } from "../../persistence/Backend.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import * as LargeObjects from "../../persistence/LargeObjects.ts"
import { type BlobPart, retention } from "../../persistence/Persistence.ts"
import { cutoff } from "../../persistence/Pruning.ts"
import { PersistenceError, StoreDamaged, StoreUnavailable } from "../../persistence/PersistenceError.ts"
import * as SpaceClock from "../../stage/SpaceClock.ts"
import * as ClockChange from "../beat/command/ClockChange.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { expect } from "../view/Expected.ts"
import type { Space } from "../view/Space.ts"
import { RecentParts } from "./RecentParts.ts"
import type { Uploads } from "./Uploads.ts"

/** The members of the state of a space that large uploads use. */
type State = Pick<
  LiveState,
  "clock" | "hash" | "host" | "liveClock" | "reporter" | "seed" | "space" | "startHash" | "steady" | "store"
>

/** The most objects of one look: more than the largest upload has, and a page. */
const MOST_OBJECTS = LargeContent.MOST / LargeContent.OBJECT + 2 * LargeContent.KEYS

const uploadOf = ({ key }: LargeContent.ListedObject): string => key.split("/")[1] ?? ""

/** Deletes the objects of a space whose uploads have names that begin with a text. */
export const clear = async (store: LargeContent.ContentStore, space: string, uploads: string): Promise<void> => {
  for (let after = "", more = true; more;) {
    const page = await LargeContent.nextPage(store, `${space}/${uploads}`, after)
    await LargeObjects.erase(store, page.objects.map(({ key }) => key))
    after = page.objects.at(-1)?.key ?? ""
    more = page.more
  }
}

/**
 * The large content of one space.
 */
export class LargeUploads {
  private readonly state: State
  private readonly uploads: Pick<Uploads, "begin" | "open">
  private readonly store: LargeContent.ContentStore | undefined
  /** The last key that the collection has seen. */
  private seen = ""
  private isCollecting = false

  constructor(state: State, uploads: Pick<Uploads, "begin" | "open">, store: LargeContent.ContentStore | undefined) {
    this.state = state
    this.uploads = uploads
    this.store = store
  }

  readonly receive: Space["receive"] = (chunks) =>
    Effect.gen({ self: this }, function*() {
      const { descriptor, hash } = yield* Effect.tryPromise({ try: () => this.upload(chunks), catch: expect(PersistenceError) })
      const isKnown = this.state.store.holds(hash)
      const { store, writer } = yield* this.uploads.begin
      writer.write(LargeContent.encode(descriptor))
      yield* store(hash)
      // Known content keeps its descriptor, and with it the objects of the earlier upload.
      void this.tidy(isKnown ? () => this.drop(descriptor.upload, hash, descriptor.parts.length) : async () => {})
      return { hash, size: descriptor.size }
    })

  /** Deletes objects while the upload is answered. A space with a deletion in progress counts as used. */
  private async tidy(drop: () => Promise<void>): Promise<void> {
    const { state: { reporter }, uploads } = this
    uploads.open++
    try {
      await drop()
      if (this.isCollecting) return
      this.isCollecting = true
      await this.collect().finally(() => this.isCollecting = false)
    } catch (error) {
      reporter.report(UnexpectedFailure.of(error))
    } finally {
      uploads.open--
    }
  }

  /** A part of content with this descriptor. */
  part(hash: string, large: LargeContent.Descriptor, part: number): Effect.Effect<BlobPart, PersistenceError> {
    return Effect.tryPromise({ try: () => this.partOf(hash, large, part), catch: expect(PersistenceError) })
  }

  private async partOf(hash: string, { parts, size, upload }: LargeContent.Descriptor, part: number): Promise<BlobPart> {
    const at = part * PART
    if (at >= size) return { bytes: new Uint8Array(), size }
    const number = Math.floor(at / LargeContent.OBJECT)
    const key = LargeObjects.partKey({ space: this.state.space, upload }, number)
    const bytes = await this.object(key, { hash, digest: parts[number] ?? "" })
    const from = at - number * LargeContent.OBJECT
    // A copy, because a view keeps all of the larger part in memory for as long as its client takes.
    return { bytes: bytes.slice(from, from + PART), size }
  }

  /** The bytes of a part, when they have its digest. */
  private object(key: string, part: { readonly hash: string; readonly digest: string }): Promise<Uint8Array> {
    const load = () => this.load(key, part)
    return this.store === undefined ? load() : RecentParts.of(this.store).get(key, load)
  }

  private async load(key: string, { digest, hash }: { readonly hash: string; readonly digest: string }): Promise<Uint8Array> {
    const bytes = await this.call((store) => store.get(key))
    const found = bytes === undefined ? undefined : this.state.hash(bytes)
    if (bytes !== undefined && found === digest) return bytes
    const { space } = this.state
    const problem = found === undefined ? "is absent" : `has the digest ${found}, and ${digest} was written`
    const detail = `object ${key} of the content ${hash} ${problem}`
    throw new PersistenceError({ reason: new StoreDamaged({ space, place: this.place, detail }) })
  }

  private upload(chunks: AsyncIterable<Uint8Array>): Promise<LargeObjects.Written> {
    const { hash: hex, seed, space, startHash: start } = this.state
    return LargeObjects.write(this.call, { space, upload: seed() }, { chunks, hash: { hex, start } })
  }

  /** Deletes the objects of an upload. */
  private drop(upload: string, hash: string, parts: number): Promise<void> {
    return LargeObjects.drop(this.call, { space: this.state.space, upload }, { hash, parts })
  }

  /** Deletes the objects without a use among one page of them. */
  private async collect(): Promise<void> {
    const { clock, host, liveClock, space } = this.state
    const objects: Array<LargeContent.ListedObject> = []
    let more = true
    // A page may end within an upload, so the last upload of a list that goes on is left to the next collection.
    while (more && objects.length < MOST_OBJECTS && new Set(objects.map(uploadOf)).size < 2) {
      const page = await this.call((store) => LargeContent.nextPage(store, `${space}/`, objects.at(-1)?.key ?? this.seen))
      objects.push(...page.objects)
      more = page.more
    }
    const uploads = [...Map.groupBy(objects, uploadOf)]
    const complete = more && uploads.length > 1 ? uploads.slice(0, -1) : uploads
    const now = host.now()
    // By the next collection a beat may have captured the jump.
    if (ClockChange.changeAt(this.state, now) !== undefined) return
    // The content store dates objects by the clock of its own host.
    const last = liveClock.ofHost(cutoff(now, retention.contentMillis, SpaceClock.uncountedJumps(clock, now)))
    const unused = complete.flatMap(([upload, own]) => {
      const isNew = own.some(({ modified }) => modified > last)
      return isNew || this.isUsed(upload, own) ? [] : own.map(({ key }) => key)
    })
    await this.call((store) => LargeObjects.erase(store, unused))
    this.seen = more ? complete.at(-1)?.[1].at(-1)?.key ?? "" : ""
  }

  /** Whether the store of the space has the descriptor of an upload. */
  private isUsed(upload: string, objects: ReadonlyArray<LargeContent.ListedObject>): boolean {
    const prefix = `${this.state.space}/${upload}/${LargeObjects.CONTENT}`
    const hash = objects.find(({ key }) => key.startsWith(prefix))?.key.slice(prefix.length)
    const first = hash === undefined ? undefined : this.state.store.blobPart(hash, 0)
    return hash !== undefined && first !== undefined && LargeContent.decodePart(hash, first)?.upload === upload
  }

  /** Calls the content store. Its failures name its place. */
  private readonly call: LargeObjects.Call = async (run) => {
    const { store } = this
    if (store === undefined) throw this.unavailable("the configuration names none. Set \"content\" there")
    try {
      return await run(store)
    } catch (error) {
      throw this.unavailable(error instanceof Error ? error.message : String(error))
    }
  }

  private get place(): string {
    return this.store?.place ?? "the content store"
  }

  private unavailable(detail: string): PersistenceError {
    return new PersistenceError({ reason: new StoreUnavailable({ space: this.state.space, place: this.place, detail }) })
  }
}
