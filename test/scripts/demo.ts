/**
 * `npm run demo [-- FILE…]`: makes thumbnails of photographs, and shows them again
 * after a restart.
 *
 * It uses the runtime as a user does: a process that serves HTTP, with a fresh
 * space in SQLite. The space is in the data folder of the example, or of
 * `--data`, so `npm start` shows it afterwards.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, extname, join, relative, resolve } from "node:path"
import process from "node:process"
import { root } from "./Host.ts"
import * as Options from "./Options.ts"
import type { Server } from "./Server.ts"
import { start } from "./Server.ts"

const example = join(root, "examples", "thumbnails")
const space = "/v1/spaces/photos"

interface Ledgers {
  readonly beat: number
  readonly inbox: ReadonlyArray<string>
  readonly agenda: ReadonlyArray<string>
  readonly stage: ReadonlyArray<string>
}

interface Size {
  readonly width: number
  readonly height: number
  readonly address: string
}

interface Asset {
  readonly thumbnail?: { readonly sizes: ReadonlyArray<Size> }
  readonly metadata?: {
    readonly format: string
    readonly width: number
    readonly height: number
    readonly exif: Readonly<Record<string, unknown>>
  }
}

/** Sends a request, and fails unless it succeeds. */
const ask = async (server: Server, path: string, init?: RequestInit): Promise<Response> => {
  const response = await fetch(`${server.url}${path}`, init)
  if (!response.ok) throw new Error(`${init?.method ?? "GET"} ${path} was answered ${response.status}: ${await response.text()}`)
  return response
}

/** Uploads a file, requests its thumbnails, and returns the link of the receipt. */
const post = async (server: Server, file: string): Promise<string> => {
  const bytes = readFileSync(file)
  const hash = createHash("sha256").update(bytes).digest("hex")
  await ask(server, `${space}/blobs`, { method: "PUT", body: bytes })
  const target = `/env/fs/projects/p1/${basename(file).replaceAll(/[^\w.-]/g, "-")}`
  const accepted = await ask(server, `${space}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signal: "/signals/image/thumbnail", target, payload: { hash } })
  })
  console.log(`posted ${relative(root, file)} as ${target}: ${accepted.status}`)
  return accepted.headers.get("location")!
}

interface Receipt {
  readonly id: string
  readonly status: string
  readonly beat: number
  readonly handlings: ReadonlyArray<{ readonly enzyme: string; readonly error?: { readonly message: string } }>
}

/** Waits for the receipt of an image. */
const settled = async (server: Server, link: string): Promise<Receipt> =>
  await (await ask(server, link, { headers: { prefer: "wait=60" } })).json() as Receipt

/** The stream of the beats of the space. */
async function* beats(server: Server, signal: AbortSignal): AsyncGenerator<Ledgers> {
  const response = await ask(server, `${space}/beats?from=0`, { headers: { accept: "text/event-stream" }, signal })
  let buffer = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const data = /^data: (.*)$/m.exec(buffer.slice(0, end))?.[1]
      buffer = buffer.slice(end + 2)
      if (data !== undefined) yield JSON.parse(data) as Ledgers
    }
  }
}

/** Prints each beat, until all images are handled and all thumbnails are in the index. */
const follow = async (server: Server, links: ReadonlyArray<string>): Promise<ReadonlyArray<Receipt>> => {
  const enough = new AbortController()
  const receipts = Promise.all(links.map((link) => settled(server, link)))
  const printed = { beat: -1, indexed: 0 }
  let goal = { beat: Infinity, indexed: Infinity }
  const check = (): void => {
    if (printed.beat >= goal.beat && printed.indexed >= goal.indexed) enough.abort()
  }
  const handled = receipts.then((receipts) => {
    const well = receipts.filter(({ handlings }) => handlings.some(({ enzyme, error }) => enzyme === "resize_image" && error === undefined))
    goal = { beat: Math.max(...receipts.map(({ beat }) => beat)), indexed: well.length }
    check()
  })
  handled.catch(() => enough.abort())
  try {
    for await (const ledgers of beats(server, enough.signal)) {
      print(ledgers)
      printed.beat = ledgers.beat
      printed.indexed += ledgers.agenda.filter((line) => line.includes(" signal=/signals/db/write ")).length
      check()
    }
  } catch (error) {
    if (!enough.signal.aborted) throw error
  }
  return receipts
}

const print = ({ agenda, beat, inbox, stage }: Ledgers): void => {
  console.log(`\nbeat ${beat}`)
  for (const [name, lines] of [["inbox", inbox], ["agenda", agenda], ["stage", stage]] as const) {
    for (const line of lines) console.log(`  ${name.padEnd(6)}  ${line}`)
  }
}

/** Writes the thumbnails of the index to files. */
const save = async (server: Server, out: string): Promise<number> => {
  const answer = await fetch(`${server.url}${space}/cells/data/index/assets`)
  // Without a photograph there is no index.
  const index = answer.status === 404 ? {} : await answer.json() as { readonly [name: string]: Asset }
  let saved = 0
  mkdirSync(out, { recursive: true })
  for (const [name, { metadata, thumbnail }] of Object.entries(index)) {
    const exif = metadata?.exif ?? {}
    const camera = ["make", "model", "taken", "description"].flatMap((field) => typeof exif[field] === "string" ? [exif[field]] : [])
    console.log(
      `  ${name}: ${metadata?.format} ${metadata?.width}×${metadata?.height}${camera.length === 0 ? "" : `, ${camera.join(", ")}`}`
    )
    for (const { address, height, width } of thumbnail?.sizes ?? []) {
      const bytes = await (await ask(server, `${space}/blobs/${address.slice(5)}`)).bytes()
      const file = join(out, `${name}-${width}.jpg`)
      writeFileSync(file, bytes)
      console.log(`    ${width}×${height}  ${bytes.length} bytes  ${relative(root, file)}`)
      saved++
    }
  }
  return saved
}

const isPhotograph = (file: string): boolean => [".jpg", ".jpeg", ".png"].includes(extname(file).toLowerCase())

/** The address of the server that uses a data folder, if there is one. */
const servedAt = async (data: string): Promise<string | undefined> => {
  try {
    const { url } = JSON.parse(readFileSync(join(data, "server.json"), "utf8")) as { readonly url: string }
    return (await fetch(`${url}/livez`)).ok ? url : undefined
  } catch {
    return undefined
  }
}

/**
 * Removes the space and the thumbnails of an earlier demonstration. The runtime deletes the space, since it alone knows all files of a
 * store; this also works if some of them are missing.
 */
const clear = async (server: Server, out: string): Promise<void> => {
  const answer = await fetch(`${server.url}${space}`, { method: "DELETE" })
  if (!answer.ok && answer.status !== 404) {
    throw new Error(`The space of an earlier demonstration cannot be deleted: ${answer.status}: ${await answer.text()}`)
  }
  rmSync(out, { recursive: true, force: true })
}

const demo = async (files: ReadonlyArray<string>, data: string): Promise<void> => {
  const served = await servedAt(data)
  if (served !== undefined) {
    throw new Error(`The example runs already, at ${served}, and the demo begins with an empty space. Stop it first`)
  }
  const out = join(data, "thumbnails")
  let server = await start(example, data)
  try {
    await clear(server, out)
    console.log(`the runtime listens at ${server.url}, its space is fresh\n`)
    const links: Array<string> = []
    for (const file of files) links.push(await post(server, file))
    for (const { handlings, id } of await follow(server, links)) {
      for (const { enzyme, error } of handlings) {
        if (error !== undefined) console.log(`\n${id} became a dead letter of ${enzyme}: ${error.message}`)
      }
    }
    console.log("\nthe index, and the thumbnails on disk:")
    const saved = await save(server, out)

    await server.end("SIGTERM")
    server = await start(example, data)
    console.log(`\nstopped and started again: the runtime listens at ${server.url}`)
    const again = await save(server, out)
    for (const link of links) await ask(server, link)
    if (again !== saved) throw new Error(`Of ${saved} thumbnails ${again} are there after the restart`)
    console.log(`\nall ${saved} thumbnails and ${links.length} receipts are still there`)
  } finally {
    await server.end("SIGTERM")
  }
  console.log("\nTo look at them, run npm start, and open http://127.0.0.1:4200/gallery in a browser")
}

const { others, values: { data } } = Options.read({
  script: "demo",
  about: "Makes thumbnails of photographs, those of the example without PHOTOGRAPH, and restarts the runtime on the way.",
  others: "[PHOTOGRAPH …]",
  options: { data: Options.text("FOLDER", "The folder of the data", join(example, ".data")) }
})
const given = others.map((file) => resolve(file))
const shipped = readdirSync(join(example, "photos")).filter(isPhotograph).map((file) => join(example, "photos", file))
const missing = given.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
if (missing !== undefined) Options.refuse(`There is no file ${missing}. Give the paths of photographs, or none for those of the example`)
try {
  await demo(given.length > 0 ? given : shipped, resolve(data))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
