/**
 * A control file that a wake has open: its bytes and its contents, and the writes that follow from changes.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Action, Defaults } from "../document/Action.ts"
import * as ControlFiles from "../document/ControlFile.ts"
import type { ControlFile } from "../document/ControlFile.ts"
import { type Damage } from "../document/Damage.ts"
import * as Damages from "../document/Damage.ts"
import { ControlStore, type RestoreResult, type StoreFailed } from "./ControlStore.ts"
import * as Edits from "../document/Edit.ts"
import type { Change } from "../document/Edit.ts"
import * as Merge from "../document/Merge.ts"
import { keyOf, type Version, Versions } from "./Versions.ts"
import { isSame } from "../text/Bytes.ts"

/** The most attempts of a write while a person saves. */
const ATTEMPTS = 5

/**
 * The control file cannot be used.
 */
export class FileUnusable extends Data.TaggedError("FileUnusable")<{
  readonly path: string
  readonly reason: string
  readonly remedy: string
  readonly code: "agent/file-absent" | "agent/file-damaged" | "agent/file-encoding"
}> {
  override get message() {
    return `${this.path} cannot be used: ${this.reason}. ${this.remedy}`
  }
}

/** A look at a file: its bytes, which are absent without one, and a finding about them. */
interface Look {
  readonly bytes: Uint8Array | undefined
  readonly damage: Damage | undefined
}

/**
 * Looks at the file until it is a text, or is twice in a row the same that is none: absent, emptied, damaged, or in another
 * encoding. A save in progress may look like each of them.
 */
const steady = Effect.gen(function*() {
  const { read, settle } = yield* ControlStore
  const look = Effect.map(read, (bytes): Look => ({ bytes, damage: bytes === undefined ? undefined : Damages.of(bytes) }))
  let last = yield* look
  for (let looks = 1; looks < LOOKS && (last.bytes === undefined || last.damage !== undefined); looks++) {
    yield* settle
    const next = yield* look
    if ((next.bytes === undefined) === (last.bytes === undefined) && next.damage?.kind === last.damage?.kind) return next
    last = next
  }
  return last
})

/** The most looks at a file that changes all the time. */
const LOOKS = 5

const absent = (path: string) =>
  new FileUnusable({ path, code: "agent/file-absent", reason: "it is absent", remedy: "Create it with systole agent init" })

const unusable = (path: string, { kind, reason }: Damage) => kind === "encoding"
  ? new FileUnusable({ path, code: "agent/file-encoding", reason, remedy: "It stays as it is; save it as UTF-8 in the editor" })
  : new FileUnusable({
    path, code: "agent/file-damaged", reason, remedy: "Restore it from a copy of yours; no valid version is known"
  })

/** An open control file. One fiber uses it at a time. */
export class OpenFile {
  /** The conflict copies and damaged copies that were made while it was open. */
  readonly copies: Array<string> = []
  private version: Version
  private readonly defaults: Defaults
  private readonly versions: Versions

  private constructor(defaults: Defaults, versions: Versions, version: Version) {
    this.defaults = defaults
    this.versions = versions
    this.version = version
  }

  /**
   * Opens a file, and notes its bytes as valid ones. Damage that no person makes is replaced by the latest valid bytes, and the
   * damaged file is kept. `versions` spare the parse of bytes that they contain.
   */
  static readonly open = Effect.fn("OpenFile.open")(function*(
    defaults: Defaults,
    isDry: boolean,
    versions: Versions = new Versions()
  ): Effect.fn.Return<OpenFile, StoreFailed | FileUnusable, ControlStore> {
    const store = yield* ControlStore
    const { path } = store.place
    const copies: Array<string> = []
    let { bytes, damage } = yield* steady
    for (let attempt = 0; damage?.kind === "damaged"; attempt++) {
      const restored: RestoreResult = isDry || attempt === ATTEMPTS ? { _tag: "Unknown" } : yield* store.restore(bytes)
      if (restored._tag === "Unknown") return yield* unusable(path, damage)
      if (restored._tag === "Restored" && restored.copy !== undefined) copies.push(restored.copy)
      const next = yield* steady
      bytes = next.bytes
      damage = next.damage
    }
    if (bytes === undefined) return yield* absent(path)
    if (damage?.kind === "encoding") return yield* unusable(path, damage)
    const version = versions.of(bytes, defaults)
    if (version === undefined) return yield* tooLarge(path)
    const opened = new OpenFile(defaults, versions, version)
    opened.copies.push(...copies)
    if (!isDry) yield* opened.noteValid
    return opened
  })

  get file(): ControlFile {
    return this.version.file
  }

  /** Whether the file was parsed by some defaults. */
  isOf(defaults: Defaults): boolean {
    return this.version.defaults === keyOf(defaults)
  }

  /** The actions of the file by their ids. */
  get byId(): ReadonlyMap<string, Action> {
    return this.version.byId
  }

  get bytes(): Uint8Array {
    return this.version.bytes
  }

  /** Notes the bytes as the newest valid ones that the agent saw. */
  get noteValid(): Effect.Effect<void, StoreFailed, ControlStore> {
    return ControlFiles.isDamaged(this.file) ? Effect.void : ControlStore.use((store) => store.noteValid(this.bytes))
  }

  /**
   * Writes changes, unless a person saved since the file was read. Fails if the file had no room for them. An emptied file stays
   * as it is.
   */
  readonly put = Effect.fnUntraced(function*(this: OpenFile, changes: ReadonlyArray<Change>) {
    if (this.file.text.trim() === "") return true
    const text = Edits.update(this.file, changes)
    if (text === this.file.text) return true
    const bytes = ControlFiles.encode(text)
    const { place, replace } = yield* ControlStore
    const version = this.versions.of(bytes, this.defaults)
    if (version === undefined) return yield* tooLarge(place.path)
    const replaced = yield* replace(this.bytes, bytes)
    if (replaced._tag === "Changed") return false
    if (replaced.conflict !== undefined) this.copies.push(replaced.conflict)
    this.version = version
    return true
  })

  /**
   * Writes changes. If a person saved meanwhile, the changes are merged into that version, and give way to the person's.
   * Returns false if the file is gone, has an error as a whole, or changes all the time; the ledger has the changes.
   */
  readonly save = Effect.fnUntraced(function*(this: OpenFile, changes: ReadonlyArray<Change>) {
    let left: ReadonlyArray<Change> | undefined = changes
    for (let attempt = 0; attempt < ATTEMPTS && left !== undefined; attempt++) {
      if (yield* this.put(left)) return true
      left = yield* this.adopt(left)
    }
    return false
  })

  /**
   * Takes over the version that a person saved since the file was read, with changes merged into it. Returns false like
   * {@link save}. Without such a version, the changes are not written.
   */
  readonly follow = Effect.fnUntraced(function*(this: OpenFile, changes: ReadonlyArray<Change>) {
    const { read } = yield* ControlStore
    if (isSame(yield* read, this.bytes)) return true
    const left = yield* this.adopt(changes)
    return left !== undefined && (yield* this.save(left))
  })

  /** Reads a person's version, and returns the changes that do not give way to it; `undefined` without a usable one. */
  private readonly adopt = Effect.fnUntraced(function*(this: OpenFile, changes: ReadonlyArray<Change>) {
    const { bytes: found, damage } = yield* steady
    if (found === undefined || (damage !== undefined && damage.kind !== "blank")) return undefined
    const theirs = this.versions.of(found, this.defaults)
    if (theirs === undefined || ControlFiles.isDamaged(theirs.file)) return undefined
    const yielded = new Set(Merge.merge3(this.file, changes, theirs.file).left)
    this.version = theirs
    yield* this.noteValid
    return changes.filter((change) => !yielded.has(change))
  })
}

const tooLarge = (path: string) =>
  new FileUnusable({
    path,
    code: "agent/file-damaged",
    reason: `it has more than ${ControlFiles.MAX_BYTES} bytes with its status lines`,
    remedy: "Shorten it, or split it into several files"
  })
