/**
 * The transport `pipe`: frames over Unix sockets below one folder.
 *
 * A place is `unix:PATH` with a path below the option `root`, by default `<project>/pipes`. The other options are `maxFrame` and `lines`,
 * as of the transport `tcp`.
 *
 * @module
 */
import { lstat, rm } from "node:fs/promises"
import { connect, createServer, type Server } from "node:net"
import { dirname, resolve } from "node:path"
import { Transport } from "systole"
import * as Fields from "../channel/Fields.ts"
import { Jail, type JailPath } from "../channel/Jail.ts"
import { opened } from "../connection/Duplex.ts"
import * as FrameLine from "../connection/FrameLine.ts"
import * as Listener from "../connection/Listener.ts"
import * as Wait from "../connection/Wait.ts"
import * as Dial from "./Dial.ts"

const SCHEME = "unix:"

const fields = { ...Listener.fields, root: Fields.or(Fields.text(4096), "pipes") }

/** @throws TransportRefused */
const pathOf = (url: string): string => {
  if (url.startsWith(SCHEME) && url.length > SCHEME.length) return url.slice(SCHEME.length)
  throw Transport.refuse("url", `${JSON.stringify(url.slice(0, 200))} is no place of pipe; write unix:PATH with a path below its root`)
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code

/** Whether no program listens on a socket any more, as after a crash. */
const isLeft = async (path: string): Promise<boolean> => {
  try {
    const duplex = await opened(connect(path), "connect", new AbortController().signal)
    duplex.close()
    return false
  } catch (error) {
    return codeOf(error) === "ECONNREFUSED"
  }
}

/** The identity of an entry, which a later one of its name does not have. */
const markOf = async (path: string): Promise<string> => {
  const { ctimeNs, dev, ino } = await lstat(path, { bigint: true })
  return [dev, ino, ctimeNs].join(":")
}

/** Listens on a socket, in place of one that a process left behind. */
const listening = async (server: Server, { target }: JailPath): Promise<void> => {
  try {
    await Listener.listening(server, { path: target })
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") throw error
    const mark = await markOf(target)
    // Another process may have taken the place meanwhile.
    if (!await isLeft(target) || await markOf(target) !== mark) throw error
    await rm(target)
    await Listener.listening(server, { path: target })
  }
}

/** Makes the transport. @throws InvalidPlugin */
export const make = (settings: Transport.Settings): Transport.Transport => {
  const { lines, maxFrame, root } = Fields.options("pipe", fields, { ...settings, kind: "transport" })
  const jail = new Jail(resolve(settings.root, root), "pipe")
  const { sleep } = Wait.host
  return {
    id: "pipe",
    caps: ["reliable", "ordered", "low_latency", "local_ipc", ...Transport.asynchronous],
    maxFrame,
    hosts: ["node", "deno", "bun"],
    open: async ({ signal, url }, on) => {
      const line = FrameLine.make(await Dial.to({ jail, sleep, path: pathOf(url), use: "socket" })(signal), maxFrame)
      line.hear(on)
      return line
    },
    listen: async (url, accept) => {
      const path = pathOf(url)
      const at = await jail.locate(path)
      await jail.make(path, dirname(at.target))
      const listener = new Listener.Listener({ lines, maxFrame, accept })
      const server = createServer((socket) => listener.take(socket))
      await listening(server, at)
      // A server that closes removes its socket. One of that name afterwards is of another process.
      return { url, close: () => listener.close(server) }
    }
  }
}
