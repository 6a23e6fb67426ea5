/**
 * The file of a frame: written beside its name, by position, and named when it is whole.
 *
 * @module
 */
import { constants } from "node:fs"
import { link, lstat, open, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Channel } from "systole"
import { type Jail, type JailPath, ifPresent } from "../channel/Jail.ts"
import { isLinkless } from "../file/Linkless.ts"
import * as Temporary from "../file/Temporary.ts"

/** A place that takes the bytes of a frame. */
export interface Sink {
  readonly write: (bytes: Uint8Array, at: number) => Promise<void>
  /** Waits until the place has all bytes, and gives them their name. */
  readonly finish: () => Promise<void>
  /** Removes what was written. */
  readonly drop: () => Promise<void>
}

/** The frame that a file is for: the space, and the request that began it. */
export interface Begun {
  readonly space: string
  readonly of: string
}

/** The name of the file before it is whole. It is the same after a restart. */
const draftOf = ({ path }: JailPath, { of, space }: Begun): string => Temporary.nameOf({ key: space, rid: of, attempt: 0 }, path)

/** Removes the file of a frame that is not whole. */
export const drop = async (jail: Jail, path: string, begun: Begun): Promise<void> => {
  const at = await jail.locate(path)
  await ifPresent(jail.within(path, dirname(at.target), (folder) => rm(folder.at(draftOf(at, begun)), { force: true })))
}

/** Gives a file its name without a hard link: an empty file holds the name until the other one replaces it. */
const renamed = async (draft: string, name: string): Promise<void> => {
  await (await open(name, "wx", 0o600)).close()
  try {
    await rename(draft, name)
  } catch (error) {
    await rm(name, { force: true })
    throw error
  }
}

/** Gives a file its name, and replaces none that was made meanwhile. @throws `EEXIST` */
const named = async (draft: string, name: string): Promise<void> => {
  try {
    await link(draft, name)
  } catch (error) {
    if (!isLinkless(error)) throw error
    return renamed(draft, name)
  }
  await rm(draft)
}

/** Begins a file. Fails if there is one of this name. */
export const create = async (jail: Jail, path: string, begun: Begun): Promise<Sink> => {
  const at = await jail.locate(path)
  if (path === "") throw jail.refused(path, "is the root; give one below it")
  const exists = (): Channel.ChannelError =>
    Channel.fail("io/exists", `there is a file ${JSON.stringify(path)} already; give another name`, { errno: -17 })
  if (await ifPresent(lstat(at.entry)) !== undefined) throw exists()
  const parent = dirname(at.target)
  const draft = draftOf(at, begun)
  // A frame has all labels, so its folders and its file are for their owner alone from the first moment on.
  await jail.make(path, parent, 0o700)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC
  const wanted = { path, target: join(parent, draft), mode: 0o600 }
  const file = await jail.within(path, parent, (folder) => jail.openIn(folder, wanted, flags))
  // That of an attempt before may have another mode.
  await file.chmod(0o600)
  return {
    write: async (bytes, position) => {
      for (let from = 0; from < bytes.length;) {
        from += (await file.write(bytes, from, bytes.length - from, position + from)).bytesWritten
      }
    },
    finish: async () => {
      await file.sync()
      await jail.within(path, parent, async (folder) => {
        await named(folder.at(draft), folder.at(basename(at.target))).catch((error: unknown) => {
          throw (error as { readonly code?: unknown }).code === "EEXIST" ? exists() : error
        })
        await folder.sync()
      })
      await file.close()
    },
    drop: async () => {
      await file.close()
      await drop(jail, path, begun)
    }
  }
}
