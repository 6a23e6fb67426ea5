/**
 * The routes of content: upload and download by digest. An upload is durable before it is acknowledged.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../../contract/Cells.ts"
import type { Space } from "../../kernel/view/Space.ts"
import type { Hash } from "../../persistence/Hash.ts"
import { STORED } from "../../persistence/LargeContent.ts"
import type { BlobPart, BlobWriter } from "../../persistence/Persistence.ts"
import * as Body from "../wire/Body.ts"
import * as EntityTag from "../wire/EntityTag.ts"
import * as Problem from "../wire/Problem.ts"
import * as Range from "../wire/Range.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"
import type { Transfers } from "../wire/Transfers.ts"
import * as WrittenSpace from "../access/WrittenSpace.ts"
import type { Runner } from "../wire/Runner.ts"

/** The maximum size of a content in the store of a space, in bytes. Larger content declares its length, and needs a content store. */
export const MAX_BLOB_BYTES = STORED

/** The size of a part that a {@link BlobWriter} accepts, in bytes. */
const PART_BYTES = 1_048_576

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { hash, kernel, transfers }: Pick<RouteContext, "hash" | "kernel" | "transfers">): void => {
  table.serve(Endpoints.store, ({ params, request, runner, token }) => {
    const limit = kernel.contentBytes
    const check = () => void Body.checkedLength(request, limit)
    return Effect.flatMap(Effect.promise(async () => WrittenSpace.find(kernel, params.space, { check, runner, token })), (space) => {
      const isLarge = (Body.checkedLength(request, limit) ?? 0) > MAX_BLOB_BYTES
      const received = isLarge ? space.receive(Body.chunks(request, limit)) : receiveStored(space, request, { hash, limit })
      return Effect.map(received, ({ hash, size }) =>
        ({ hash, address: `/cas/${hash}`, size, link: `/v1/spaces/${space.name}/blobs/${hash}` }))
    })
  })
  table.ofSpace(Endpoints.content, (space, { params, request, runner }) => send(space, params.hash, { request, runner, transfers }))
}

/** Receives content part by part into the store of the space. */
const receiveStored = Effect.fnUntraced(function*(
  space: Space,
  request: Request,
  at: { readonly hash: Hash["Service"]; readonly limit: number }
) {
  const { store, writer } = yield* space.content
  const { digest: hash, size } = yield* Effect.promise(() => fill(writer, request, at))
  yield* store(hash)
  return { hash, size }
})

/** A source of stored content: a space, or the view of a reader. */
interface Holder {
  readonly name: string
  readonly blobPart: (hash: string, part: number) => Effect.Effect<BlobPart | undefined, unknown>
}

/** The maximum size of a content that is answered without streaming, in bytes. */
const MAX_WHOLE = 65_536

/**
 * Sends a content or the requested range of it. Its name is its digest, so clients may cache it forever.
 */
export const send = async (space: Holder, digest: string, at: {
  readonly request: Request
  readonly runner: Runner
  readonly transfers: Transfers
}): Promise<Response> => {
  if (!/^[0-9a-f]{64}$/.test(digest)) throw absent(space, digest)
  const part = async (number: number): Promise<BlobPart> => {
    const found = await at.runner.promise(space.blobPart(digest, number))
    if (found === undefined) throw absent(space, digest)
    return found
  }
  const { bytes: first, size } = await part(0)
  const headers: Record<string, string> = {
    "accept-ranges": "bytes",
    "content-type": sniff(first),
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=31536000, immutable",
    etag: `"${digest}"`
  }
  const { request, transfers } = at
  if (EntityTag.names(request.headers.get("if-none-match"), headers["etag"]!)) return new Response(null, { status: 304, headers })
  const range = Range.spanIn(request, { etag: headers["etag"]!, size })
  if (range === "unsatisfiable") return unsatisfiable(size)
  const { from, to } = range ?? { from: 0, to: size - 1 }
  headers["content-length"] = String(to - from + 1)
  if (range !== undefined) headers["content-range"] = `bytes ${from}-${to}/${size}`
  const status = range === undefined ? 200 : 206
  if (size <= MAX_WHOLE) return new Response(first.slice(from, to + 1), { status, headers })
  const source = (place: number) =>
    Effect.promise(async () => (await part(Math.floor(place / PART_BYTES))).bytes.subarray(place % PART_BYTES))
  return new Response(transfers.body(source, { from, to }), { status, headers })
}

const unsatisfiable = (size: number): Response => {
  const response = Problem.response(new Problem.RequestRefused({
    code: "blob/range",
    reason: `The content has ${size} bytes, and the range lies beyond its end. Ask for one that begins before`
  }))
  response.headers.set("content-range", `bytes */${size}`)
  return response
}

/**
 * The media type of a content by its first bytes: a common image format, or `application/octet-stream`.
 */
export const sniff = (bytes: Uint8Array): string => {
  const begins = (text: string, at = 0): boolean => {
    for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false
    return true
  }
  if (begins("\xff\xd8\xff")) return "image/jpeg"
  if (begins("\x89PNG\r\n\x1a\n")) return "image/png"
  if (begins("GIF87a") || begins("GIF89a")) return "image/gif"
  if (begins("RIFF") && begins("WEBP", 8)) return "image/webp"
  if (begins("ftypavif", 4)) return "image/avif"
  return "application/octet-stream"
}

const absent = (space: Pick<Space, "name">, digest: string) =>
  new Problem.RequestRefused({
    code: "blob/absent",
    reason: `Space "${space.name}" holds no content ${JSON.stringify(digest.slice(0, 100))}. Put it with PUT /v1/spaces/${space.name}/blobs`
  })

/** The remedy for content that goes to the store of its space only because its size is not known. */
const DECLARE = "Declare the size with the header Content-Length: larger content goes to the content store"

const fill = async (writer: BlobWriter, request: Request, { hash, limit }: {
  readonly hash: Hash["Service"]
  readonly limit: number
}): Promise<{ readonly digest: string; readonly size: number }> => {
  const hasher = hash.start()
  const part = new Uint8Array(PART_BYTES)
  let filled = 0
  let size = 0
  const flush = (): void => {
    writer.write(part.slice(0, filled))
    filled = 0
  }
  try {
    for await (const chunk of Body.chunks(request, MAX_BLOB_BYTES, limit > MAX_BLOB_BYTES ? DECLARE : undefined)) {
      hasher.update(chunk)
      size += chunk.byteLength
      for (let at = 0; at < chunk.byteLength;) {
        const taken = chunk.subarray(at, at + PART_BYTES - filled)
        part.set(taken, filled)
        filled += taken.byteLength
        at += taken.byteLength
        if (filled === PART_BYTES) flush()
      }
    }
    if (filled > 0 || size === 0) flush()
    return { digest: hasher.hex(), size }
  } catch (error) {
    writer.abort()
    throw error
  }
}
