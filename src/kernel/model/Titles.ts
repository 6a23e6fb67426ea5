/**
 * Titles: the enzyme labels in the view of a beat, as of that beat.
 *
 * The cell `/sys/titles/<enzyme>` lists the labels of the enzymes with this name,
 * from each beat that activated others. Only an enzyme with a label other than its
 * name has such a cell. Only a beat that activates modules writes it, so all other
 * beats pay no cost [S0 §Filesystem Layout].
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Entry, Enzymes } from "../../registry/Registry.ts"
import { CAPTURE, type Stage } from "../../stage/Stage.ts"
import type { Documents } from "./Documents.ts"

/** The folder of the cells. */
const FOLDER = "/sys/titles"

/** The most retained label changes of one name. Views of older beats show the name. */
const MAX_CHANGES = 64

/** The labels of the enzymes of one name from a beat on, by a text that distinguishes each from the others. */
type Since = readonly [beat: number, labels: Readonly<Record<string, string>>]

/** A changed cell and its new content. */
export interface TitleCell {
  readonly key: string
  readonly document: Document.Document | undefined
}

/** The cells that change with the active enzymes, in a beat. */
export const activation = (enzymes: Enzymes, documents: Pick<Documents, "read">, beat: number): ReadonlyArray<TitleCell> => {
  const titled: Array<TitleCell> = []
  for (const [name, entries] of Map.groupBy(enzymes.active(), ({ name }) => name)) {
    const key = `${FOLDER}/${name}`
    const before = changesOf(documents.read(key))
    const labels = labelsOf(name, entries)
    if (Document.encode(labels).text === Document.encode(before.at(-1)?.[1] ?? {}).text) continue
    titled.push({ key, document: Document.encode([...before, [beat, labels]].slice(-MAX_CHANGES)) })
  }
  return titled
}

/** A changed cell of an entry, from its key and text. */
export const fromCell = (key: string, text: string | undefined): TitleCell | undefined =>
  key.startsWith(`${FOLDER}/`) ? { key, document: text === undefined ? undefined : Document.decode(text) } : undefined

/** Writes the cells of an activation, before any run of the beat. */
export const put = (titled: ReadonlyArray<TitleCell>, stage: Stage): void => {
  for (const { document, key } of titled) stage.put(Address.ofKey(key), document, CAPTURE)
}

/**
 * The label of a handling's enzyme in the view of a beat. It is the enzyme's name if others of that name had other
 * labels and the handling's key does not distinguish them.
 */
export const titleAt = (documents: Pick<Documents, "read">, key: string, beat: number): string => {
  const [name = key, mark] = key.split("~")
  const labels = changesOf(documents.read(`${FOLDER}/${name}`)).findLast(([since]) => since <= beat)?.[1] ?? {}
  if (mark !== undefined) return labels[`${name}~${mark}`] ?? name
  const known = new Set(Object.values(labels))
  return known.size === 1 ? [...known][0]! : name
}

/**
 * The labels of the enzymes of one name; empty if all show the name, or if one query has several labels, because
 * handlings do not distinguish those.
 */
const labelsOf = (name: string, entries: ReadonlyArray<Entry>): Since[1] => {
  if (entries.every(({ enzyme }) => enzyme.label === name)) return {}
  const labels: Record<string, string> = {}
  for (const { enzyme: { label }, id } of entries) labels[id] = (labels[id] ?? label) === label ? label : name
  return labels
}

const changesOf = (document: Document.Document | undefined): ReadonlyArray<Since> =>
  document === undefined ? [] : Document.read(document, []) as unknown as ReadonlyArray<Since>
