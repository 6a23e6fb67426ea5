/**
 * Kills a server over SQLite in the middle of imports over HTTP, again and again.
 *
 * A client sends a frame in parts. The server is killed between two parts, or while it takes one. After its restart the space is
 * whole or absent, and the same import goes on to its end.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { atChunk } from "../archive/Spaces.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import { type Server, start } from "../scripts/Server.ts"
import * as Random from "../support/Random.ts"

const files = {
  "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n`,
  "enzymes/put.ts": `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "put",
  query: "/signals/put/:n",
  run: (tx, { params: { n }, payload }) => tx.set("/data/n/" + n, { text: n + payload.repeat(20_000) })
})
`
}

/** The signals before the export: each brings a document of 40 KB, and as much journal. */
const SIGNALS = 24

/** The most turns of this process between the beginning of a part and the kill. */
const MOST_TURNS = 300

/** The parameters of a test. */
export interface Plan {
  readonly kills: number
  readonly seed: number
}

/** The result of a test: the states of the spaces after the kills, and all faults. */
export interface Tally {
  readonly whole: number
  readonly unfinished: number
  readonly absent: number
  readonly faults: ReadonlyArray<string>
}

const bytesOf = async (server: Server, path: string): Promise<Uint8Array> => {
  const response = await fetch(`${server.url}/v1/spaces/${path}`)
  if (!response.ok) throw new Error(`${path} is answered ${response.status}: ${await response.text()}`)
  return new Uint8Array(await response.arrayBuffer())
}

/** Makes the source, and takes its frame out. */
const exported = async (server: Server): Promise<Uint8Array> => {
  for (let n = 0; n < SIGNALS; n++) {
    const body = JSON.stringify({ signal: `/signals/put/${n}`, payload: "é", id: `put-${n}` })
    await fetch(`${server.url}/v1/spaces/home/signals`, {
      method: "POST", headers: { "content-type": "application/json", prefer: "wait=10" }, body
    })
  }
  return bytesOf(server, "home/export")
}

/** The number of chunks of a frame with its seal. */
const chunksOf = (frame: Uint8Array): number => {
  let count = 0
  for (let at = atChunk(frame, 1); at < frame.length; at += Chunk.HEAD + Chunk.numbers(frame.subarray(at)).stored + Chunk.DIGEST) count++
  return count
}

/** A client that sends a frame to a server as one import. */
class Sender {
  private readonly frame: Uint8Array
  private readonly path: string

  constructor(frame: Uint8Array, space: string) {
    this.frame = frame
    this.path = `/v1/spaces/${space}/import/importing1`
  }

  /** Sends some chunks from one on. Returns the answer. */
  async send(server: Server, from: number, count: number): Promise<{ readonly next?: number; readonly root?: string }> {
    const bytes = this.frame.subarray(atChunk(this.frame, from), atChunk(this.frame, from + count))
    const response = await fetch(`${server.url}${this.path}?from=${from}`, { method: "PUT", body: new Uint8Array(bytes) })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`the part from ${from} on is answered ${response.status}: ${text}`)
    return JSON.parse(text) as { readonly next?: number; readonly root?: string }
  }

  /** Sends the rest of the frame, from where the server is. */
  async finish(server: Server): Promise<void> {
    let { next } = await this.send(server, 0, 1)
    while (next !== undefined) ({ next } = await this.send(server, next, 1))
  }
}

/** The state of a space after a restart. */
const stateOf = async (server: Server, space: string): Promise<"absent" | "unfinished" | "whole"> => {
  const { status } = await fetch(`${server.url}/v1/spaces/${space}/control?limit=0`)
  return status === 200 ? "whole" : status === 404 ? "absent" : "unfinished"
}

/** The differences of a copy from its source. */
const differencesOf = async (server: Server, space: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const n of [0, 7, SIGNALS - 1]) {
    const [one, other] = await Promise.all([bytesOf(server, `home/cells/data/n/${n}`), bytesOf(server, `${space}/cells/data/n/${n}`)])
    if (Buffer.compare(one, other) !== 0) found.push(`${space} has another /data/n/${n}`)
  }
  const verified = Buffer.from(await bytesOf(server, `${space}/journal/verification`)).toString()
  const { fault } = JSON.parse(verified) as { readonly fault?: unknown }
  if (fault !== undefined) found.push(`${space}: ${JSON.stringify(fault)}`)
  return found
}

/** Sends some parts, and kills the server while it takes the next one. */
const broken = async (
  { sender, server }: { readonly sender: Sender; readonly server: Server },
  chunks: number,
  draw: (bound: number) => number
): Promise<void> => {
  let { next = 1 } = await sender.send(server, 0, 1)
  for (let parts = draw(chunks - 1); parts > 0; parts--) ({ next = next } = await sender.send(server, next, 1))
  const part = sender.send(server, next, 1 + draw(4)).catch(() => undefined)
  for (let turns = draw(MOST_TURNS); turns > 0; turns--) await new Promise<void>((resolve) => void setImmediate(resolve))
  await server.end("SIGKILL")
  await part
}

/** Runs the test. */
export const run = async ({ kills, seed }: Plan): Promise<Tally> => {
  const project = mkdtempSync(join(tmpdir(), "systole-imports-"))
  const data = join(project, ".data")
  mkdirSync(join(project, "enzymes"))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  const draw = Random.make(seed)
  const tally = { whole: 0, unfinished: 0, absent: 0 }
  const faults: Array<string> = []
  let log = ""
  const told = (text: string): void => void (log += text)
  let server = await start(project, data, { told })
  try {
    const frame = await exported(server)
    const chunks = chunksOf(frame)
    for (let kill = 0; kill < kills; kill++) {
      const space = `copy-${kill}`
      const sender = new Sender(frame, space)
      await broken({ sender, server }, chunks, draw)
      server = await start(project, data, { told })
      const state = await stateOf(server, space)
      tally[state]++
      if (state !== "whole") await sender.finish(server)
      faults.push(...await differencesOf(server, space))
    }
    // An import that goes on is no failure of the server.
    if (log.includes("sev:crit")) faults.push(log)
    return { ...tally, faults }
  } finally {
    await server.end("SIGKILL")
    rmSync(project, { recursive: true, force: true, maxRetries: 5 })
  }
}
