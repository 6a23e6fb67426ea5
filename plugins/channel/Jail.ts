/**
 * A jail of paths: a folder that requests cannot leave, neither by a path nor by a symbolic link.
 *
 * A path is relative, with `/` between its segments. The real path of its deepest existing part has to lie below the real path
 * of the root. Each file is then reached through its open folder, whose place is compared with the located one, and without
 * following links. So a link that another program makes in between leads nowhere. Hard links cannot be told from files.
 *
 * A host without `/proc` does not show the place of an open folder. There, a real path is checked before and after its use,
 * which does not hold against a program that changes links all the time: the root must be the server's alone.
 *
 * @module
 */
import { constants, type Stats } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises"
import { basename, dirname, join, sep } from "node:path"
import { Channel } from "systole"
import * as Fields from "./Fields.ts"
import { OpenFolder, placeOf } from "./OpenFolder.ts"

/** The longest path and segment, in bytes. */
const PATH = 4096
const SEGMENT = 255

/** A path of a payload; "" is the root. */
export const path = Fields.text(PATH)

/** A path below a root. */
export interface JailPath {
  /** The path as the request gives it. */
  readonly path: string
  /** The folder of the entry, without links. */
  readonly parent: string
  /** The entry itself, which can be a link to a target below the root. */
  readonly entry: string
  /** The file or folder to use: the entry, or the target of its link. */
  readonly target: string
}

/** The kinds of entries that are opened, each with its test and its name. */
const kinds = {
  file: [(stats: Stats) => stats.isFile(), "regular file"],
  fifo: [(stats: Stats) => stats.isFIFO(), "FIFO"],
  socket: [(stats: Stats) => stats.isSocket(), "socket"]
} as const

/** An entry to open: a regular file unless given. A file that is made has the mode, less the mask of the process. */
export interface Wanted extends Pick<JailPath, "path" | "target"> {
  readonly kind?: keyof typeof kinds
  readonly mode?: number
}

/** The rules of paths, each with its breach as a message. */
const rules: ReadonlyArray<readonly [breach: string, isBroken: (path: string, segments: ReadonlyArray<string>) => boolean]> = [
  ["contains a NUL", (path) => path.includes("\0")],
  ["contains a backslash; give / between its segments", (path) => path.includes("\\")],
  ["is absolute; give one below the root", (path) => path.startsWith("/")],
  ["begins with the name of a drive; give one below the root", (path) => /^[a-z]:/i.test(path)],
  ["contains the segment ..; give one without it", (_, segments) => segments.includes("..")],
  ["contains an empty segment or the segment .; give one without it", (_, segments) => segments.includes("") || segments.includes(".")],
  [`has a segment of more than ${SEGMENT} bytes`, (_, segments) => segments.some((each) => Buffer.byteLength(each) > SEGMENT)]
]

/** Tests whether a real path is a root or lies below it. */
const isBelow = (real: string, root: string): boolean => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code

/** The result of a call, or `undefined` if the file is absent. */
export const ifPresent = async <A>(call: Promise<A>): Promise<A | undefined> => {
  try {
    return await call
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined
    throw error
  }
}

/** The real path of a root, and whether the host shows the places of open folders. */
interface Root {
  readonly real: string
  readonly isAnchored: boolean
}

const LINKED = "leads over a link that was made meanwhile"

/** The paths below a root. A refusal has the code `<channel>/refused`. */
export class Jail {
  readonly root: string
  private readonly code: string
  private made: Promise<Root> | undefined

  constructor(root: string, channel: string) {
    this.root = root
    this.code = `${channel}/refused`
  }

  /** The refusal of a path. */
  refused(path: string, breach: string): Channel.ChannelError {
    return Channel.fail(this.code, `the path ${JSON.stringify(path.slice(0, 200))} ${breach}`, { errno: -13 })
  }

  /** Finds a path below the root; "" is the root. The path may be absent. */
  async locate(path: string): Promise<JailPath> {
    const segments = path === "" ? [] : path.split("/")
    const broken = rules.find(([, isBroken]) => isBroken(path, segments))
    if (broken !== undefined) throw this.refused(path, broken[0])
    const { real: root } = await this.found()
    const name = segments.at(-1)
    if (name === undefined) return { path, parent: root, entry: root, target: root }
    const parent = await this.resolve(path, segments.slice(0, -1))
    const entry = join(parent, name)
    const isLink = (await ifPresent(lstat(entry)))?.isSymbolicLink() === true
    return { path, parent, entry, target: isLink ? await this.resolve(path, segments) : entry }
  }

  /** Opens a regular file without following a link. */
  open(at: JailPath, flags: number): Promise<FileHandle> {
    return this.within(at.path, dirname(at.target), (folder) => this.openIn(folder, at, flags))
  }

  /** Opens an entry of an open folder without following a link. It is closed if its place is not below the root. */
  async openIn(folder: OpenFolder, { kind = "file", mode = 0o666, path, target }: Wanted, flags: number): Promise<FileHandle> {
    const all = flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    const handle = await this.unlinked(path, open(folder.at(basename(target)), all, mode))
    try {
      const { isAnchored, real } = await this.found()
      const place = isAnchored ? await placeOf(handle) : await this.unlinked(path, realpath(target))
      if (place === undefined || !isBelow(place, real)) throw this.refused(path, LINKED)
      const [isKind, name] = kinds[kind]
      if (!isKind(await handle.stat())) throw Channel.fail("io/kind", `${JSON.stringify(path)} is no ${name}`, { errno: -22 })
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Opens a folder by its real path, uses it, and closes it. Refuses one that another program has replaced by a link. */
  async within<A>(path: string, real: string, use: (folder: OpenFolder) => Promise<A>): Promise<A> {
    const { isAnchored } = await this.found()
    const folder = await this.unlinked(path, OpenFolder.open(real, isAnchored))
    try {
      const place = isAnchored ? await folder.place : await this.unlinked(path, realpath(real))
      if (place !== real) throw this.refused(path, LINKED)
      return await use(folder)
    } finally {
      await folder.close()
    }
  }

  /** Creates a folder with those above it, durably. Each is made in its open parent, with the mode less the mask of the process. */
  async make(path: string, real: string, mode = 0o777): Promise<void> {
    const found = await ifPresent(this.within(path, real, async () => true))
    if (found === true) return
    await this.make(path, dirname(real), mode)
    await this.within(path, dirname(real), async (parent) => {
      await mkdir(parent.at(basename(real)), { mode }).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error
      })
      await parent.sync()
    })
  }

  private async unlinked<A>(path: string, call: Promise<A>): Promise<A> {
    try {
      return await call
    } catch (error) {
      if (codeOf(error) === "ELOOP") throw this.refused(path, "is a link, or leads over too many")
      throw error
    }
  }

  /** The real path of the root, which is created when it is first needed. */
  private found(): Promise<Root> {
    this.made ??= this.makeRoot().catch((error: unknown) => {
      this.made = undefined
      throw error
    })
    return this.made
  }

  private async makeRoot(): Promise<Root> {
    await mkdir(this.root, { recursive: true, mode: 0o700 })
    const real = await realpath(this.root)
    const folder = await OpenFolder.open(real, false)
    const place = await folder.place.finally(() => folder.close())
    return { real, isAnchored: place === real }
  }

  /** The real path of segments below the root. The absent end of it stays as it is. */
  private async resolve(path: string, segments: ReadonlyArray<string>): Promise<string> {
    const { real: root } = await this.found()
    for (let length = segments.length; length > 0; length--) {
      const lexical = join(root, ...segments.slice(0, length))
      const real = await this.unlinked(path, ifPresent(realpath(lexical)))
      if (real !== undefined) {
        if (!isBelow(real, root)) {
          throw this.refused(path, "leads out of the root over a symbolic link")
        }
        return join(real, ...segments.slice(length))
      }
      const isLink = (await ifPresent(lstat(lexical)))?.isSymbolicLink() === true
      if (isLink) throw this.refused(path, "leads over a symbolic link to an absent target")
    }
    return join(root, ...segments)
  }
}
