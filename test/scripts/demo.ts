/**
 * `npm run demo [-- FILE…]`: photographs in, thumbnails out, and all still there
 * after a restart.
 *
 * It uses the runtime as anyone would: a process that serves HTTP, on a fresh
 * space in SQLite.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, extname, join, relative, resolve } from "node:path"
import process from "node:process"
import { root } from "./Host.ts"
import type { Server } from "./Server.ts"
import { start } from "./Server.ts"

const example = join(root, "examples", "thumbnails")
const folder = join(example, ".data", "demo")
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
  readonly metadata?: { readonly format: string; readonly width: number; readonly height: number; readonly exif: { readonly [field: string]: unknown } }
}

/** A request that has to be well. */
const ask = async (server: Server, path: string, init?: RequestInit): Promise<Response> => {
  const response = await fetch(`${server.url}${path}`, init)
  if (!response.ok) throw new Error(`${init?.method ?? "GET"} ${path} was answered ${response.status}: ${await response.text()}`)
  return response
}

/** Keeps a file's bytes in the runtime, and asks for its thumbnails; answers the receipt's link. */
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

/** Waits until an image is handled. */
const settled = async (server: Server, link: string): Promise<Receipt> =>
  await (await ask(server, link, { headers: { prefer: "wait=60" } })).json() as Receipt

/** Prints the beats as they happen, until all images are handled and those that are well are in the index. */
const follow = async (server: Server, links: ReadonlyArray<string>): Promise<ReadonlyArray<Receipt>> => {
  const enough = new AbortController()
  const receipts = Promise.all(links.map((link) => settled(server, link)))
  let indexed = 0
  let goal = Infinity
  const check = (): void => {
    if (indexed >= goal) enough.abort()
  }
  void receipts.then((receipts) => {
    goal = receipts.filter(({ handlings }) => handlings.some(({ enzyme, error }) => enzyme === "resize_image" && error === undefined)).length
    check()
  })
  const response = await ask(server, `${space}/beats?from=0`, { headers: { accept: "text/event-stream" }, signal: enough.signal })
  let buffer = ""
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      buffer += chunk
      for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
        const data = /^data: (.*)$/m.exec(buffer.slice(0, end))?.[1]
        buffer = buffer.slice(end + 2)
        if (data === undefined) continue
        const ledgers = JSON.parse(data) as Ledgers
        print(ledgers)
        indexed += ledgers.agenda.filter((line) => line.includes(" signal=/signals/db/write ")).length
        check()
      }
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

/** Writes every thumbnail of the index to disk. */
const save = async (server: Server, out: string): Promise<number> => {
  const index = await (await ask(server, `${space}/cells/data/index/assets`)).json() as { readonly [name: string]: Asset }
  let saved = 0
  mkdirSync(out, { recursive: true })
  for (const [name, { metadata, thumbnail }] of Object.entries(index)) {
    const exif = metadata?.exif ?? {}
    const camera = ["make", "model", "taken", "description"].flatMap((field) => typeof exif[field] === "string" ? [exif[field]] : [])
    console.log(`  ${name}: ${metadata?.format} ${metadata?.width}×${metadata?.height}${camera.length === 0 ? "" : `, ${camera.join(", ")}`}`)
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

const demo = async (files: ReadonlyArray<string>): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  let server = await start(example, folder)
  console.log(`the runtime listens at ${server.url}, its space is fresh\n`)
  try {
    const links: Array<string> = []
    for (const file of files) links.push(await post(server, file))
    const receipts = await follow(server, links)
    for (const { handlings, id } of receipts) {
      for (const { enzyme, error } of handlings) if (error !== undefined) console.log(`\n${id} became a dead letter of ${enzyme}: ${error.message}`)
    }
    console.log("\nthe index, and the thumbnails on disk:")
    const saved = await save(server, join(folder, "thumbnails"))
    const gallery = await ask(server, "/gallery")
    writeFileSync(join(folder, "gallery.html"), await gallery.text())
    console.log(`\nthe gallery page is at ${server.url}/gallery while the runtime runs`)

    await server.end("SIGTERM")
    server = await start(example, folder)
    console.log(`\nstopped and started again: the runtime listens at ${server.url}`)
    const again = await save(server, join(folder, "thumbnails"))
    for (const link of links) await ask(server, link)
    if (again !== saved) throw new Error(`Of ${saved} thumbnails ${again} are there after the restart`)
    console.log(`\nall ${saved} thumbnails and ${links.length} receipts are still there`)
  } finally {
    await server.end("SIGTERM")
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

const given = process.argv.slice(2).map((file) => resolve(file))
const shipped = readdirSync(join(example, "photos")).filter(isPhotograph).map((file) => join(example, "photos", file))
const missing = given.find((file) => !existsSync(file))
if (missing !== undefined) {
  console.error(`There is no file ${missing}. Give the paths of photographs, or none for those of the example`)
  process.exit(2)
}
await demo(given.length > 0 ? given : shipped)
