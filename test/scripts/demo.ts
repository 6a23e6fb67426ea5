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
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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

/** Prints the beats from `from` on, until `last` says that it has seen enough. */
const follow = async (server: Server, from: number, isLast: (ledgers: Ledgers) => boolean): Promise<void> => {
  const response = await ask(server, `${space}/beats?from=${from}`, { headers: { accept: "text/event-stream" } })
  let buffer = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const data = /^data: (.*)$/m.exec(buffer.slice(0, end))?.[1]
      buffer = buffer.slice(end + 2)
      if (data === undefined) continue
      const ledgers = JSON.parse(data) as Ledgers
      print(ledgers)
      if (isLast(ledgers)) return
    }
  }
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
    const receipts: Array<string> = []
    for (const file of files) receipts.push(await post(server, file))
    let left = files.length
    await follow(server, 0, ({ agenda }) => {
      const over = agenda.filter((line) => /signal=\/signals\/db\/write|rc=(?!0 |-1 )/.test(line) || line.startsWith("no-match"))
      left -= over.length
      return left <= 0
    })
    for (const link of receipts) {
      const receipt = await (await ask(server, link)).json() as { readonly id: string; readonly status: string }
      if (receipt.status !== "handled") console.log(`\n${receipt.id} was not handled: ${JSON.stringify(receipt)}`)
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
    for (const link of receipts) await ask(server, link)
    if (again !== saved) throw new Error(`Of ${saved} thumbnails ${again} are there after the restart`)
    console.log(`\nall ${saved} thumbnails and ${receipts.length} receipts are still there`)
  } finally {
    await server.end("SIGTERM")
  }
}

const given = process.argv.slice(2).map((file) => resolve(file))
const shipped = readdirSync(join(example, "photos")).filter(isPhotograph).map((file) => join(example, "photos", file))
await demo(given.length > 0 ? given : shipped)
