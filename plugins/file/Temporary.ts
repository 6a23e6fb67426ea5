/**
 * Files that are written as a whole: a temporary file beside the target, which then takes its name.
 *
 * A reader sees the old content or the new one, also after a power cut.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Channel } from "systole"
import type { Jail, JailPath } from "../channel/Jail.ts"

const PREFIX = ".systole-"

/** The name of the temporary file of one attempt. */
export const nameOf = ({ attempt, key, rid }: Pick<Channel.Job, "attempt" | "key" | "rid">, path: string): string =>
  PREFIX + createHash("sha256").update(`${key} ${rid} ${attempt} ${path}`).digest("hex").slice(0, 32)

/** Tests whether a name is that of an unfinished write. */
export const is = (name: string): boolean => name.startsWith(PREFIX)

/** The parts of a source, which together have at most `limit` bytes. */
export async function* limited(source: AsyncIterable<Uint8Array>, limit: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of source) {
    signal.throwIfAborted()
    size += part.byteLength
    if (size > limit) throw tooLarge(limit)
    yield part
  }
}

/** The failure of an operation with more bytes than its limit. */
export const tooLarge = (limit: number): Channel.ChannelError =>
  Channel.fail("file/size", `it has more than ${limit} bytes, which is the limit; raise the option maxBytes`, { errno: -27 })

/** The content of a file, and the job that writes it. */
export interface Draft {
  readonly source: AsyncIterable<Uint8Array>
  readonly job: Channel.Job
}

/**
 * Writes a file as a whole, durably, and returns its number of bytes. An attempt that stopped in the middle leaves a
 * temporary file, which the next execution of the same attempt replaces.
 */
export const write = async (jail: Jail, { path, target }: JailPath, { job, source }: Draft): Promise<number> => {
  const parent = dirname(target)
  const draft = nameOf(job, path)
  await jail.make(path, parent)
  return jail.within(path, parent, async (folder) => {
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC
      const bytes = await fill(await jail.openIn(folder, { path, target: join(parent, draft) }, flags), source)
      job.signal.throwIfAborted()
      await rename(folder.at(draft), folder.at(basename(target)))
      await folder.sync()
      return bytes
    } catch (error) {
      await rm(folder.at(draft), { force: true })
      throw error
    }
  })
}

/** Writes the parts into an open file, waits for the disk, closes the file, and returns the number of bytes. */
export const fill = async (file: FileHandle, source: AsyncIterable<Uint8Array>): Promise<number> => {
  try {
    let bytes = 0
    for await (const part of source) {
      for (let from = 0; from < part.byteLength;) from += (await file.write(part, from, part.byteLength - from, null)).bytesWritten
      bytes += part.byteLength
    }
    await file.sync()
    return bytes
  } finally {
    await file.close()
  }
}
