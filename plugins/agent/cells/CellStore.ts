/**
 * The store of a control file in a cell of its space.
 *
 *     /data/agent/files/<name>             { content, bytes, kept? }: the address of the bytes, and their number
 *     /data/agent/files/<name>/<digest>    the text of a version, if label rules make the file confidential
 *     /data/agent/<file>/valid             the address of the latest valid bytes
 *
 * The bytes are content, so the log of a durable run names them and holds no copy. The address is the SHA-256 of the bytes,
 * and so it is the version, too. A beat reads, compares and writes as a whole: no save comes between, and there is no
 * conflict copy. Earlier versions are in the journal, so there is no backup, either.
 *
 * Content is open to all readers unless a label rule names it, and no such rule tells one content from another. So the text of a
 * file that is more confidential lies in a cell below it, under the same rules. `kept` names these cells, the newest last.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { Address, Label, type LabelRules, Labels, labelsCell, sha256, type Transaction } from "systole"
import * as ControlFiles from "../document/ControlFile.ts"
import { ControlStore, type Place, type RestoreResult, stamp } from "../store/ControlStore.ts"
import { pathOf } from "../order/Order.ts"

/** The folder of control files. */
export const FOLDER = "/data/agent/files"

/** The signal that saves a control file. Its target is the cell of the file. */
export const SAVE = "/signals/heartbeat/save"

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
 */
export const place = (cell: string | undefined): CellPlace | undefined => {
  const name = cell?.startsWith(`${FOLDER}/`) === true ? cell.slice(FOLDER.length + 1) : ""
  return NAME.test(name) ? placeOf(name) : undefined
}

const placeOf = (name: string): CellPlace => {
  const cell = `${FOLDER}/${name}`
  const path = pathOf(cell)
  return { cell, name, path, key: sha256(path).slice(0, 32) }
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
 */
export const contentOf = (cells: Cells, { cell }: CellPlace): string | undefined => contentAt(cells, `${cell}#/content`)

const digestOf = (content: string): string => content.slice("/cas/".length)

/**
 * The cell of the text of a version of a confidential file.
 */
export const textCell = ({ cell }: Pick<CellPlace, "cell">, content: string): string => `${cell}/${digestOf(content)}`

/** Bytes of a version of a file by their address; `undefined` if they are gone, or if it is not the address of content. */
export const bytesAt = (cells: Cells, place: CellPlace, content: string | undefined): Uint8Array | undefined => {
  if (!isContent(content)) return undefined
  const bytes = cells.get(content)
  if (bytes instanceof Uint8Array) return bytes
  const text = cells.get(textCell(place, content))
  return typeof text === "string" ? ControlFiles.encode(text) : undefined
}

/** The number of versions of a confidential file that are kept: a save merges with changes since one of them. */
const KEPT = 8

/** The label rules that a transaction read last. */
const latest = new WeakMap<Cells, Labels>()

/** The label rules of the space. */
const labelsIn = (cells: Cells): Labels => {
  const rules = cells.get(labelsCell.id) as unknown as LabelRules | undefined
  const labels = new Labels(rules ?? { cells: {}, declassify: {} })
  latest.set(cells, labels)
  return labels
}

/** Whether readers who may not read the file may read content. */
const isConfidential = (cells: Cells, { cell }: CellPlace): boolean => {
  const labels = labelsIn(cells)
  return !Label.isWithin(labels.of(Address.make(cell)), labels.of(Address.make(`/cas/${"0".repeat(64)}`)))
}

/**
 * Whether a run may write a cell after it has read another one. The rules that it read before count, so its log has them once.
 */
export const mayKnow = (cells: Cells, { enzyme, read, written }: {
  readonly enzyme: string
  readonly read: string
  readonly written: string
}): boolean => {
  const labels = latest.get(cells) ?? labelsIn(cells)
  return Label.isWithin(labels.leaving(labels.of(Address.make(read)), enzyme), labels.of(Address.make(written)))
}

const keptIn = (cells: Cells, cell: string): ReadonlyArray<string> => {
  const kept = cells.get(`${cell}#/kept`)
  return Array.isArray(kept) ? kept.filter((digest) => typeof digest === "string") : []
}

/** Writes the bytes of a file, and returns their address. */
export const put = (cells: Cells, place: CellPlace, bytes: Uint8Array): string => {
  const { cell } = place
  const before = keptIn(cells, cell)
  const text = isConfidential(cells, place) ? ControlFiles.decode(bytes) : undefined
  const content = typeof text === "string" ? `/cas/${sha256(bytes)}` : cells.blob(bytes)
  const all = typeof text === "string" ? [...before.filter((digest) => digest !== digestOf(content)), digestOf(content)] : []
  const valid = contentAt(cells, validOf(place))
  const kept = all.filter((digest, i) => i >= all.length - KEPT || `/cas/${digest}` === valid)
  for (const digest of before) if (!kept.includes(digest)) cells.set(`${cell}/${digest}`, undefined)
  if (typeof text === "string") cells.set(textCell(place, content), text)
  cells.set(cell, { content, bytes: bytes.length, ...kept.length === 0 ? {} : { kept } })
  return content
}

const validOf = ({ key }: Place): string => `/data/agent/${key}/valid`

const PARTS = /^(.+?)(\.[^.]*)?$/

/** The name without its extension, and the extension. */
const partsOf = (name: string): readonly [stem: string, extension: string] => {
  const [, stem = name, extension = ""] = PARTS.exec(name) ?? []
  return [stem, extension]
}

/** Puts the latest valid bytes back, and keeps the present ones in a cell beside. */
const restore = (cells: Cells, place: CellPlace): RestoreResult => {
  const valid = bytesAt(cells, place, contentAt(cells, validOf(place)))
  const damaged = bytesAt(cells, place, contentOf(cells, place))
  if (valid === undefined || damaged === undefined) return { _tag: "Unknown" }
  const [stem, extension] = partsOf(place.name)
  const taken = new Set(cells.list(FOLDER))
  const base = `${stem}.damaged-${stamp(cells.now)}`
  let name = `${base}${extension}`
  for (let i = 2; taken.has(name); i++) name = `${base}-${i}${extension}`
  put(cells, placeOf(name), damaged)
  put(cells, place, valid)
  return { _tag: "Restored", copy: name }
}

/**
 * The store of a file over the transaction of a durable run. The lane of the signal of a wake is the lease.
 */
export const make = (cells: Cells, place: CellPlace): ControlStore["Service"] => {
  const nothing = Effect.succeed([])
  let known: { readonly content: string; readonly bytes: Uint8Array } | undefined
  const addressOf = (bytes: Uint8Array): string => known?.bytes === bytes ? known.content : `/cas/${sha256(bytes)}`
  const read = (): Uint8Array | undefined => {
    const content = contentOf(cells, place)
    if (content === undefined) return undefined
    if (known?.content === content) return known.bytes
    const bytes = bytesAt(cells, place, content)
    known = bytes === undefined ? undefined : { content, bytes }
    return bytes
  }
  return ControlStore.of({
    place,
    remedy: `Save a corrected text in ${place.cell} with the signal ${SAVE}`,
    lease: () => Effect.void,
    held: Effect.void,
    tend: nothing,
    version: Effect.sync(() => contentOf(cells, place)),
    read: Effect.sync(read),
    settle: Effect.void,
    replace: (from, to) => Effect.sync(() => {
      if (contentOf(cells, place) !== addressOf(from)) return { _tag: "Changed" }
      known = { content: put(cells, place, to), bytes: to }
      return { _tag: "Replaced", conflict: undefined }
    }),
    backUp: () => Effect.void,
    noteValid: (bytes) => Effect.sync(() => {
      const content = addressOf(bytes)
      if (contentAt(cells, validOf(place)) === content) return
      cells.set(validOf(place), isConfidential(cells, place) ? content : cells.blob(bytes))
    }),
    restore: () => Effect.sync(() => restore(cells, place)),
    copies: Effect.sync(() => {
      const [stem, extension] = partsOf(place.name)
      return cells.list(FOLDER).filter((name) => name.startsWith(`${stem}.damaged-`) && name.endsWith(extension))
    }),
    isFile: () => false,
    capture: () => Effect.succeed({ files: new Set(), variables: new Set(), digests: new Map() })
  })
}
