/**
 * Titles: what the ledger of a beat shows for its enzymes, as of that beat.
 *
 * The cell `/sys/titles/<enzyme>` lists the labels of the enzymes of this name,
 * from each beat on in which others became active. Only an enzyme whose label
 * differs from its name has one, and only a beat that activates modules writes
 * it, so all other beats pay nothing. (Seed 000, "Filesystem Layout".)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Entry, Enzymes } from "../../registry/Registry.ts"
import { CAPTURE, type Stage } from "../../stage/Stage.ts"
import type { Documents } from "./Documents.ts"

/** Where the cells lie. */
const FOLDER = "/sys/titles"

/** Most changes of one name's labels that are kept; the ledgers of older beats show the name. */
const MAX_CHANGES = 64

/** The labels of the enzymes of one name from a beat on, by what tells each from the others. */
type Since = readonly [beat: number, labels: Readonly<Record<string, string>>]

/** A cell that changes, and what it holds from then on. */
export interface Titled {
  readonly key: string
  readonly document: Document.Document | undefined
}

/** The cells that become others when the active enzymes do, in a beat. */
export const activation = (enzymes: Enzymes, documents: Pick<Documents, "read">, beat: number): ReadonlyArray<Titled> => {
  const titled: Array<Titled> = []
  for (const [name, entries] of Map.groupBy(enzymes.active(), ({ name }) => name)) {
    const key = `${FOLDER}/${name}`
    const before = changesOf(documents.read(key))
    const labels = labelsOf(name, entries)
    if (Document.encode(labels).text === Document.encode(before.at(-1)?.[1] ?? {}).text) continue
    titled.push({ key, document: Document.encode([...before, [beat, labels]].slice(-MAX_CHANGES)) })
  }
  return titled
}

/** The same of an entry, by the cells that it changed. */
export const fromCell = (key: string, text: string | undefined): Titled | undefined =>
  key.startsWith(`${FOLDER}/`) ? { key, document: text === undefined ? undefined : Document.decode(text) } : undefined

/** Writes the cells of what a beat activates, before any run of it. */
export const put = (titled: ReadonlyArray<Titled>, stage: Stage): void => {
  for (const { document, key } of titled) stage.put(Address.ofKey(key), document, CAPTURE)
}

/**
 * What the ledger of a beat shows for the enzyme that took a handling: its label, or the name that it was given. Where others of its
 * name had other labels and the handling's key does not tell them apart, that is the name.
 *
 * @category getters
 * @since 0.1.0
 */
export const shown = (documents: Pick<Documents, "read">, key: string, beat: number): string => {
  const [name = key, mark] = key.split("~")
  const labels = changesOf(documents.read(`${FOLDER}/${name}`)).findLast(([since]) => since <= beat)?.[1] ?? {}
  if (mark !== undefined) return labels[`${name}~${mark}`] ?? name
  const known = new Set(Object.values(labels))
  return known.size === 1 ? [...known][0]! : name
}

/** The labels of the enzymes of one name; none where all show the name. Where one query has several labels, no handling tells which is its own. */
const labelsOf = (name: string, entries: ReadonlyArray<Entry>): Since[1] => {
  if (entries.every(({ enzyme }) => enzyme.label === name)) return {}
  const labels: Record<string, string> = {}
  for (const { enzyme: { label }, id } of entries) labels[id] = (labels[id] ?? label) === label ? label : name
  return labels
}

const changesOf = (document: Document.Document | undefined): ReadonlyArray<Since> =>
  document === undefined ? [] : Document.read(document, []) as unknown as ReadonlyArray<Since>
