/**
 * Connections to the sockets and FIFOs below one folder.
 *
 * @module
 */
import { constants, type Stats } from "node:fs"
import { lstat } from "node:fs/promises"
import { connect } from "node:net"
import { basename, dirname } from "node:path"
import { Channel } from "systole"
import type { Jail, JailPath } from "../channel/Jail.ts"
import { type OpenFolder, wayOf } from "../channel/OpenFolder.ts"
import { type Dial, type Duplex, opened } from "../connection/Duplex.ts"
import type * as Wait from "../connection/Wait.ts"
import * as Fifo from "./Fifo.ts"

/** The flag of Linux that opens an entry as a place alone, which `node:fs` has no name for. */
const O_PATH = 0o10000000

/** The use of a FIFO: one side alone, the reading side together with the other one, so that it does not end, or none at all. */
export type Use = "read" | "write" | "listen" | "socket"

const flags: Readonly<Record<Exclude<Use, "socket">, number>> = {
  read: constants.O_RDONLY,
  write: constants.O_WRONLY,
  listen: constants.O_RDWR
}

/** The place of a connection. */
export interface Place {
  readonly jail: Jail
  readonly path: string
  readonly use: Use
  readonly sleep: Wait.World["sleep"]
}

/** Connects to a socket. On Linux, no link that another program makes meanwhile leads elsewhere. */
const toSocket = async (jail: Jail, { at, folder, signal }: Entry): Promise<Duplex> => {
  const name = folder.at(basename(at.target))
  if (!folder.isAnchored) return opened(connect(name), "connect", signal)
  const handle = await jail.openIn(folder, { ...at, kind: "socket" }, O_PATH)
  try {
    return await opened(connect(wayOf(handle)), "connect", signal)
  } finally {
    await handle.close()
  }
}

/** An entry of an open folder. */
interface Entry {
  readonly at: JailPath
  readonly folder: OpenFolder
  readonly signal: AbortSignal
}

const toFifo = async ({ jail, sleep, use }: Place, { at, folder }: Entry): Promise<Duplex> => {
  if (use === "socket") throw Channel.fail("io/kind", `${JSON.stringify(at.path)} is no socket`, { errno: -22 })
  const handle = await jail.openIn(folder, { ...at, kind: "fifo" }, flags[use])
  return use === "write" ? Fifo.writing({ handle, sleep }) : Fifo.reading({ handle, sleep })
}

const isPlace = (stats: Stats): boolean => stats.isSocket() || stats.isFIFO()

/** The dial of a place. @throws ChannelError `pipe/refused` for a path that leaves the folder, `io/kind` for another entry */
export const to = (place: Place): Dial => async (signal) => {
  const { jail, path } = place
  const at = await jail.locate(path)
  return jail.within(path, dirname(at.target), async (folder) => {
    const stats = await lstat(folder.at(basename(at.target)))
    signal.throwIfAborted()
    if (!isPlace(stats)) throw Channel.fail("io/kind", `${JSON.stringify(path)} is no socket and no FIFO`, { errno: -22 })
    const entry = { at, folder, signal }
    return stats.isSocket() ? toSocket(jail, entry) : toFifo(place, entry)
  })
}
