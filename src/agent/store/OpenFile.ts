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
import { ControlStore } from "./ControlStore.ts"
import { type DiskFailed, isSame } from "./Disk.ts"
import * as Edits from "../document/Edit.ts"
import type { Change } from "../document/Edit.ts"
import * as Merge from "../document/Merge.ts"
import { keyOf, type Version, Versions } from "./Versions.ts"

/** The most attempts of a write while a person saves. */
const ATTEMPTS = 5

/**
 * The control file cannot be used.
 *
 * @category errors
 * @since 0.1.0
 */
export class FileUnusable extends Data.TaggedError("FileUnusable")<{
  readonly path: string
  readonly reason: string
  readonly remedy: string
  readonly code: "agent/file-absent" | "agent/file-damaged"
}> {
  override get message() {
    return `${this.path} cannot be used: ${this.reason}. ${this.remedy}`
  }
}

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
   * Opens a file. Damage that no person makes is replaced by the latest valid bytes, and the damaged file is kept. `versions`
   * spare the parse of bytes that they contain.
   */
  static readonly open = Effect.fn("OpenFile.open")(function*(
    defaults: Defaults,
    isDry: boolean,
    versions: Versions = new Versions()
  ): Effect.fn.Return<OpenFile, DiskFailed | FileUnusable, ControlStore> {
    const store = yield* ControlStore
    const { path } = store.place
    const read = Effect.flatMap(store.read, (found) =>
      found === undefined
        ? Effect.fail(new FileUnusable({
          path, code: "agent/file-absent", reason: "it is absent", remedy: "Create it with systole agent init"
        }))
        : Effect.succeed(found))
    let bytes = yield* read
    const copies: Array<string> = []
    if (ControlFiles.damageOf(bytes) !== undefined) {
      yield* store.settle
      bytes = yield* read
      const damage = ControlFiles.damageOf(bytes)
      const copy = damage === undefined || isDry ? undefined : yield* store.restore
      if (damage !== undefined && copy === undefined) {
        const remedy = "Restore it from a copy of yours; no valid version is known"
        return yield* new FileUnusable({ path, code: "agent/file-damaged", reason: damage, remedy })
      }
      if (copy !== undefined) copies.push(copy)
      bytes = yield* read
    }
    const version = versions.of(bytes, defaults)
    if (version === undefined) return yield* tooLarge(path)
    const opened = new OpenFile(defaults, versions, version)
    opened.copies.push(...copies)
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

  /** Writes changes, unless a person saved since the file was read. Fails if the file had no room for them. */
  readonly put = Effect.fnUntraced(function*(this: OpenFile, changes: ReadonlyArray<Change>) {
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
    const { read, settle } = yield* ControlStore
    let found = yield* read
    if (found === undefined || ControlFiles.damageOf(found) !== undefined) {
      yield* settle
      found = yield* read
    }
    if (found === undefined || ControlFiles.damageOf(found) !== undefined) return undefined
    const theirs = this.versions.of(found, this.defaults)
    if (theirs === undefined || ControlFiles.isDamaged(theirs.file)) return undefined
    const yielded = new Set(Merge.merge3(this.file, changes, theirs.file).left)
    this.version = theirs
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
