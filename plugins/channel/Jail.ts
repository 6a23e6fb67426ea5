/**
 * A jail of paths: a folder that requests cannot leave, neither by a path nor by a symbolic link.
 *
 * A path is relative, with `/` between its segments. The real path of its deepest existing part has to lie below the real path
 * of the root. Files are opened without following links, and their place is checked again when they are open. So a link that
 * another program creates in between is refused, too. Hard links cannot be told from files.
 *
 * @module
 */
import { constants } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises"
import { join, sep } from "node:path"
import { Channel } from "systole"
import * as Fields from "./Fields.ts"

/** The longest path and segment, in bytes. */
const PATH = 4096
const SEGMENT = 255

/** A path of a payload; "" is the root. */
export const path = Fields.text(PATH)

/** A path below a root. */
export interface Located {
  /** The path as the request gives it. */
  readonly path: string
  /** The folder of the entry, without links. */
  readonly parent: string
  /** The entry itself, which can be a link to a target below the root. */
  readonly entry: string
  /** The file or folder to use: the entry, or the target of its link. */
  readonly target: string
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

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code

/** The result of a call, or `undefined` if the file is absent. */
export const present = async <A>(call: Promise<A>): Promise<A | undefined> => {
  try {
    return await call
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined
    throw error
  }
}

/** The paths below a root. A refusal has the code `<channel>/refused`. */
export class Jail {
  readonly root: string
  private readonly code: string
  private made: Promise<string> | undefined

  constructor(root: string, channel: string) {
    this.root = root
    this.code = `${channel}/refused`
  }

  /** The refusal of a path. */
  refused(path: string, breach: string): Channel.ChannelError {
    return Channel.fail(this.code, `the path ${JSON.stringify(path.slice(0, 200))} ${breach}`, { errno: -13 })
  }

  /** Finds a path below the root; "" is the root. The path may be absent. */
  async locate(path: string): Promise<Located> {
    const segments = path === "" ? [] : path.split("/")
    const broken = rules.find(([, isBroken]) => isBroken(path, segments))
    if (broken !== undefined) throw this.refused(path, broken[0])
    const root = await this.realRoot()
    const name = segments.at(-1)
    if (name === undefined) return { path, parent: root, entry: root, target: root }
    const parent = await this.resolve(path, segments.slice(0, -1))
    const entry = join(parent, name)
    const isLink = (await present(lstat(entry)))?.isSymbolicLink() === true
    return { path, parent, entry, target: isLink ? await this.resolve(path, segments) : entry }
  }

  /** Opens a regular file without following a link. The file is closed if its place is not the located one. */
  async open(at: Located, flags: number): Promise<FileHandle> {
    const handle = await this.unlinked(at.path, open(at.target, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), 0o666))
    try {
      await this.check(at.path, at.target)
      if (!(await handle.stat()).isFile()) throw Channel.fail("io/kind", `${JSON.stringify(at.path)} is no regular file`, { errno: -22 })
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Refuses a real path that another program has replaced by a link since it was located. */
  async check(path: string, real: string): Promise<void> {
    if (await this.unlinked(path, realpath(real)) !== real) throw this.refused(path, "leads over a link that was made meanwhile")
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
  private realRoot(): Promise<string> {
    this.made ??= mkdir(this.root, { recursive: true, mode: 0o700 }).then(() => realpath(this.root)).catch((error: unknown) => {
      this.made = undefined
      throw error
    })
    return this.made
  }

  /** The real path of segments below the root. The absent end of it stays as it is. */
  private async resolve(path: string, segments: ReadonlyArray<string>): Promise<string> {
    const root = await this.realRoot()
    for (let length = segments.length; length > 0; length--) {
      const lexical = join(root, ...segments.slice(0, length))
      const real = await this.unlinked(path, present(realpath(lexical)))
      if (real !== undefined) {
        if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep)) {
          throw this.refused(path, "leads out of the root over a symbolic link")
        }
        return join(real, ...segments.slice(length))
      }
      const isLink = (await present(lstat(lexical)))?.isSymbolicLink() === true
      if (isLink) throw this.refused(path, "leads over a symbolic link to an absent target")
    }
    return join(root, ...segments)
  }
}
