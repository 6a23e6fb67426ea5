/**
 * The store of a control file in a cell of its space.
 *
 *     /data/agent/files/<name>    { content, bytes }: the address of the bytes, and their number
 *     /data/agent/<file>/valid    the address of the latest valid bytes
 *
 * The bytes are content, so the log of a durable run names them and holds no copy. The address is the SHA-256 of the bytes,
 * and so it is the version, too. A beat reads, compares and writes as a whole: no save comes between, and there is no
 * conflict copy. Earlier versions are in the journal, so there is no backup, either.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hash } from "../../persistence/Hash.ts"
import type { Transaction } from "../../stage/Transaction.ts"
import { ControlStore, type Place, stamp } from "../store/ControlStore.ts"
import { pathOf } from "../order/Order.ts"

/** The folder of control files. */
export const FOLDER = "/data/agent/files"

/** The names of control files. */
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/

/** A control file in a cell. */
export interface CellPlace extends Place {
  readonly name: string
  readonly cell: string
}

/** The part of a transaction that the store uses. */
export type Cells = Pick<Transaction, "blob" | "get" | "list" | "now" | "set">

/**
 * The place of the file of a cell; `undefined` for any other cell.
 *
 * @category constructors
 * @since 0.1.0
 */
export const place = (cell: string | undefined, hash: Hash["Service"]): CellPlace | undefined => {
  const name = cell?.startsWith(`${FOLDER}/`) === true ? cell.slice(FOLDER.length + 1) : ""
  if (cell === undefined || !NAME.test(name)) return undefined
  const path = pathOf(cell)
  return { cell, name, path, key: hash.hex(path).slice(0, 32) }
}

const CONTENT = /^\/cas\/[0-9a-f]{64}$/

/** Whether a value is the address of content. */
export const isContent = (value: unknown): value is string => typeof value === "string" && CONTENT.test(value)

const contentAt = (cells: Cells, address: string): string | undefined => {
  const value = cells.get(address)
  return isContent(value) ? value : undefined
}

/**
 * The address of the bytes of a file; `undefined` if it is absent.
 *
 * @category getters
 * @since 0.1.0
 */
export const contentOf = (cells: Cells, { cell }: CellPlace): string | undefined => contentAt(cells, `${cell}#/content`)

/** Bytes by their address; `undefined` if they are gone, or if it is not the address of content. */
export const bytesAt = (cells: Cells, content: string | undefined): Uint8Array | undefined => {
  const bytes = isContent(content) ? cells.get(content) : undefined
  return bytes instanceof Uint8Array ? bytes : undefined
}

/** Writes the bytes of a file, and returns their address. */
export const put = (cells: Cells, cell: string, bytes: Uint8Array): string => {
  const content = cells.blob(bytes)
  cells.set(cell, { content, bytes: bytes.length })
  return content
}

const validOf = ({ key }: Place): string => `/data/agent/${key}/valid`

const PARTS = /^(.+?)(\.[^.]*)?$/

/** The name without its extension, and the extension. */
const partsOf = (name: string): readonly [stem: string, extension: string] => {
  const [, stem = name, extension = ""] = PARTS.exec(name) ?? []
  return [stem, extension]
}

/** Puts the latest valid bytes back, and keeps the present ones in a cell beside. Returns its name. */
const restore = (cells: Cells, place: CellPlace): string | undefined => {
  const valid = bytesAt(cells, contentAt(cells, validOf(place)))
  const damaged = bytesAt(cells, contentOf(cells, place))
  if (valid === undefined || damaged === undefined) return undefined
  const [stem, extension] = partsOf(place.name)
  const taken = new Set(cells.list(FOLDER))
  const base = `${stem}.damaged-${stamp(cells.now)}`
  let name = `${base}${extension}`
  for (let i = 2; taken.has(name); i++) name = `${base}-${i}${extension}`
  put(cells, `${FOLDER}/${name}`, damaged)
  put(cells, place.cell, valid)
  return name
}

/**
 * The store of a file over the transaction of a durable run. The lane of the signal of a wake is the lease.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (cells: Cells, place: CellPlace, hash: Hash["Service"]): ControlStore["Service"] => {
  const nothing = Effect.succeed([])
  let known: { readonly content: string; readonly bytes: Uint8Array } | undefined
  const addressOf = (bytes: Uint8Array): string => known?.bytes === bytes ? known.content : `/cas/${hash.hex(bytes)}`
  const read = (): Uint8Array | undefined => {
    const content = contentOf(cells, place)
    if (content === undefined) return undefined
    if (known?.content === content) return known.bytes
    const bytes = bytesAt(cells, content)
    known = bytes === undefined ? undefined : { content, bytes }
    return bytes
  }
  return ControlStore.of({
    place,
    lease: () => Effect.void,
    tend: nothing,
    version: Effect.sync(() => contentOf(cells, place)),
    read: Effect.sync(read),
    settle: Effect.void,
    replace: (from, to) => Effect.sync(() => {
      if (contentOf(cells, place) !== addressOf(from)) return { _tag: "Changed" }
      known = { content: put(cells, place.cell, to), bytes: to }
      return { _tag: "Replaced", conflict: undefined }
    }),
    backUp: () => Effect.void,
    noteValid: (bytes) => Effect.sync(() => {
      if (contentAt(cells, validOf(place)) !== addressOf(bytes)) cells.set(validOf(place), cells.blob(bytes))
    }),
    restore: Effect.sync(() => restore(cells, place)),
    copies: Effect.sync(() => {
      const [stem, extension] = partsOf(place.name)
      return cells.list(FOLDER).filter((name) => name.startsWith(`${stem}.damaged-`) && name.endsWith(extension))
    }),
    capture: () => Effect.succeed({ files: new Set(), variables: new Set(), digests: new Map() })
  })
}
