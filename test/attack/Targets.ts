/**
 * Packed servers on loopback as targets of attacks, with limits on their memory and response time.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { request as send } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { create } from "../package/Project.ts"
import * as Command from "../scripts/Command.ts"
import { type Server, start } from "../scripts/Server.ts"
import type { Random } from "../support/Random.ts"
import * as Hostile from "./Hostile.ts"

/** The tokens of the guarded server. */
export const tokens = { operator: "the-operators-own-token", web: "the-token-of-a-page", office: "the-token-of-an-office" }

/** The time-out of a response, in milliseconds. It allows for a shared machine. */
export const PATIENCE = 60_000

/** The memory limit of a server, in MiB. */
export const MEMORY = 1024

/** The maximum number of bytes kept of a response. */
const MAX_ANSWER = 262_144

/** A request with any method and headers. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: string | Uint8Array
}

/** A response. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

/** A response that did not come in time. */
export class Late extends Error {}

/** A server under attack. */
export interface Target {
  readonly server: Server
  /** The data folder. */
  readonly data: string
  /** The output on standard error so far. */
  readonly printed: () => string
  readonly ask: (path: string, sent?: Sent) => Promise<Answer>
  /** Asserts that the server responds and is within its memory limit. */
  readonly check: () => Promise<void>
}

/** The command, packed and installed in a temporary folder. */
export interface Packed {
  readonly folder: string
  /** The file of the installed command. */
  readonly command: string
  /** Starts a server on a project of its own. The caller ends it. */
  readonly start: (setup: Setup) => Promise<Target>
  readonly remove: () => Promise<void>
}

/** The servers under attack, and the random generator of the attacks. */
export interface Targets {
  /** A server with a token and with readers of limited clearance. */
  readonly guarded: Target
  /** A server without a token, for local programs. */
  readonly open: Target
  readonly start: Packed["start"]
  readonly draw: Random
  readonly end: () => Promise<void>
}

/** A project under attack. */
export interface Setup {
  /** The name of its folder. A second start with the same name finds the data of the first. */
  readonly name: string
  /** The configuration. */
  readonly config: string
  /** The sources of its enzymes, by name. */
  readonly enzymes: Readonly<Record<string, string>>
  /** The token of the operator, if the configuration has one. */
  readonly token?: string
}

const enzymes = { hostile: Hostile.module }

const guarded: Setup = {
  name: "guarded",
  config: `spaces: { create: "on-demand" },
  token: ${JSON.stringify(tokens.operator)},
  labels: {
    cells: { "/data/pay/**": ["salary"] },
    readers: {
      web: { token: ${JSON.stringify(tokens.web)}, clearance: [] },
      office: { token: ${JSON.stringify(tokens.office)}, clearance: ["salary"] }
    }
  }`,
  enzymes,
  token: tokens.operator
}

/** The folder of the data: in memory where the host has one, since a disk that others use would be measured, too. */
const dataFolder = (): Promise<string> => mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "systole-data-"))

const packedAt = async (place: { readonly folder: string; readonly command: string }): Promise<Packed> => {
  const data = await dataFolder()
  return {
    ...place,
    start: (setup) => target({ ...place, data: join(data, setup.name) }, setup),
    remove: async () => {
      for (const folder of [place.folder, data]) await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Packs the package, and installs it. */
export const pack = async (): Promise<Packed> => {
  await Command.ensure()
  const { folder } = await create({ built: true })
  return packedAt({ folder, command: join(folder, "node_modules", "systole", "dist", "command", "systole.js") })
}

/** The command of this tree, which is not packed, for projects in a temporary folder. */
export const unpacked = async (): Promise<Packed> => {
  await Command.ensure()
  return packedAt({ folder: await mkdtemp(join(tmpdir(), "systole-unpacked-")), command: Command.file })
}

/** Starts both servers with the installed command. */
export const make = async ({ start }: Packed, draw: Random): Promise<Targets> => {
  const both = await Promise.all([start(guarded), start({ name: "open", config: `spaces: { create: "on-demand" }`, enzymes })])
  return {
    guarded: both[0],
    open: both[1],
    start,
    draw,
    end: async () => void await Promise.all(both.map(({ server }) => server.end("SIGKILL")))
  }
}

/** Writes the files of a project. Returns its folder. */
export const write = async (parent: string, { config, enzymes, name }: Setup): Promise<string> => {
  const folder = join(parent, name)
  await mkdir(join(folder, "enzymes"), { recursive: true })
  await writeFile(join(folder, "package.json"), `{ "type": "module", "private": true }`)
  await writeFile(join(folder, "systole.config.ts"), `import { defineConfig } from "systole"\nexport default defineConfig({ ${config} })\n`)
  for (const [enzyme, source] of Object.entries(enzymes)) await writeFile(join(folder, "enzymes", `${enzyme}.ts`), source)
  return folder
}

interface Place {
  readonly command: string
  readonly data: string
  readonly folder: string
}

const target = async ({ command, data, folder: parent }: Place, setup: Setup): Promise<Target> => {
  const { token } = setup
  const folder = await write(parent, setup)
  const chunks: Array<string> = []
  const server = await start(folder, data, { command, told: (text) => chunks.push(text) }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${chunks.join("").slice(-500)}`)
  })
  const ask = (path: string, sent: Sent = {}) =>
    request(server.url, path, token === undefined ? sent : { ...sent, headers: { authorization: `Bearer ${token}`, ...sent.headers } })
  const check = async (): Promise<void> => {
    if (server.process.exitCode !== null || server.process.signalCode !== null) {
      const how = server.process.signalCode ?? server.process.exitCode
      throw new Error(`the server ended with ${how}: ${chunks.join("").slice(-500)}`)
    }
    const { status } = await ask("/livez")
    if (status !== 200) throw new Error(`/livez answers ${status}`)
    const used = memory(server.process.pid)
    if (used > MEMORY) throw new Error(`the server has ${used} MiB resident, and may have ${MEMORY}`)
  }
  return { server, data, printed: () => chunks.join(""), ask, check }
}

/** The resident memory of a process in MiB; 0 if unknown. */
export const memory = (pid: number | undefined): number => {
  try {
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}

/** The number of open descriptors of a process; 0 if unknown. */
export const descriptors = (pid: number | undefined): number => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** The CPU time of a process in milliseconds; 0 if unknown. */
export const processor = (pid: number | undefined): number => {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13)
    return (Number(user) + Number(system)) * 10
  } catch {
    return 0
  }
}

/** The time for which the main thread of a process ran, and for which it waited for a core, in milliseconds; 0 if unknown. */
export const scheduled = (pid: number | undefined): { readonly ran: number; readonly waited: number } => {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map((nanos) => Number(nanos) / 1_000_000)
    return { ran, waited }
  } catch {
    return { ran: 0, waited: 0 }
  }
}

/** Sends a request to a server of this machine. */
export const request = (url: string, path: string, { body, headers = {}, method = "GET" }: Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    if (hostname !== "127.0.0.1" && hostname !== "localhost") throw new Error(`${hostname} is not this machine`)
    const asked = send({
      hostname, port, path, method, headers: headers as Record<string, string>, timeout: PATIENCE, agent: false
    }, (response) => {
      const chunks: Array<Buffer> = []
      let size = 0
      const end = (): void =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() })
      response.on("data", (chunk: Buffer) => {
        if (size < MAX_ANSWER) chunks.push(chunk)
        size += chunk.length
        if (isStream(response.headers)) {
          end()
          response.destroy()
        }
      })
      response.on("end", end)
      response.on("error", end)
    })
    asked.on("timeout", () => asked.destroy(new Late(`${method} ${path.slice(0, 100)} is not answered within ${PATIENCE} ms`)))
    asked.on("error", reject)
    asked.end(body)
  })

const isStream = (headers: Answer["headers"]): boolean => headers["content-type"] === "text/event-stream"

/** Fails with a message unless the condition holds. */
export const hold = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message)
}

/** The `code` of a problem; empty for other responses. */
export const codeOf = ({ headers, text }: Answer): string => {
  if (headers["content-type"] !== "application/problem+json") return ""
  return (JSON.parse(text) as { readonly code: string }).code
}
