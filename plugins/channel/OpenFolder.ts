/**
 * An open folder, through which its entries are reached.
 *
 * On Linux, a path through an open folder begins at the folder itself, so no link that another program makes above it leads
 * elsewhere. Other hosts have no such paths: there, each entry is reached by the real path of its folder.
 *
 * @module
 */
import { constants, type Dir } from "node:fs"
import { type FileHandle, open, opendir, readlink } from "node:fs/promises"
import { join } from "node:path"

/** The place of an open file or folder by its number, on Linux. */
export const wayOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`

/** The real path of an open file or folder; `undefined` on a host that does not show it. */
export const placeOf = (handle: FileHandle): Promise<string | undefined> => readlink(wayOf(handle)).catch(() => undefined)

/** A folder that is open until it is closed. */
export class OpenFolder {
  /** The path through which the folder is reached. */
  readonly way: string
  private readonly handle: FileHandle

  private constructor(handle: FileHandle, way: string) {
    this.handle = handle
    this.way = way
  }

  /** Opens a folder by its real path. `isAnchored` is whether the host has paths through open folders. */
  static async open(real: string, isAnchored: boolean): Promise<OpenFolder> {
    const handle = await open(real, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0))
    return new OpenFolder(handle, isAnchored ? wayOf(handle) : real)
  }

  /** Whether the host has paths through open folders. */
  get isAnchored(): boolean {
    return this.way === wayOf(this.handle)
  }

  /** The real path of the folder now; `undefined` on a host that does not show it. */
  get place(): Promise<string | undefined> {
    return placeOf(this.handle)
  }

  /** The path of an entry. */
  at(name: string): string {
    return join(this.way, name)
  }

  /** The entries of the folder. */
  entries(): Promise<Dir> {
    return opendir(this.way)
  }

  /** Waits until the disk has the entries of the folder. */
  sync(): Promise<void> {
    return this.handle.sync()
  }

  close(): Promise<void> {
    return this.handle.close()
  }
}
