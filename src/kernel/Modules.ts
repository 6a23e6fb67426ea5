/**
 * The modules of a space: whose code runs in it, as cells.
 *
 * The cell `/sys/code/<enzyme>` holds the addresses of the modules that its
 * enzymes of this name came from, in the order in which they were activated, and
 * `/sys/code/nodes/<node>` that of a node's module. It changes in the beat in which
 * another version becomes active, as a part of the capture; the same batch keeps
 * the version's text under its digest.
 *
 * So the code of each beat that is kept is held. What is active is named by the
 * cell. What was active in an older beat is named by the entry of the beat that
 * replaced it, as what the cell held before; and that entry is younger, so it is
 * pruned later. (Architecture, sections 3 and 4.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { BlobRow, SpaceStore } from "../persistence/Persistence.ts"
import type { Code, Enzymes } from "../registry/Registry.ts"
import type { Modules as NodeModules } from "../scheduler/Modules.ts"
import type { Stage } from "../stage/Stage.ts"
import { CAPTURE } from "../stage/Stage.ts"
import { below, type Documents } from "./Documents.ts"

/** Where the cells lie. */
export const FOLDER = "/sys/code"

/** What the names of nodes begin with, beside those of enzymes. */
export const NODES = "nodes/"

/** Where content lies. */
const CONTENT = "/cas/"

/** The modules behind the enzymes of one name, or behind a node, by their digests; none where there are none any more. */
export interface Module {
  readonly name: string
  readonly digests: ReadonlyArray<string>
}

/** What a beat activates: the names behind which there are other modules, and texts that are not kept yet. */
export interface Activation {
  readonly modules: ReadonlyArray<Module>
  readonly texts: ReadonlyArray<BlobRow>
}

/** Where nothing changes. */
export const unchanged: Activation = { modules: [], texts: [] }

/**
 * The name of the node that a module's name stands for; `undefined` where it stands for enzymes.
 *
 * @category getters
 * @since 0.1.0
 */
export const nodeOf = ({ name }: Module): string | undefined => name.startsWith(NODES) ? name.slice(NODES.length) : undefined

/**
 * What becomes another when the active enzymes and nodes take the place of those that the cells name.
 *
 * @category getters
 * @since 0.1.0
 */
export const activation = ({ enzymes, nodes }: { readonly enzymes: Enzymes; readonly nodes: NodeModules }, documents: Documents): Activation => {
  const active = new Map<string, Array<Code>>()
  const derived = nodes.all().map(({ code, definition: { name } }) => ({ code, name: NODES + name }))
  for (const { code, name } of [...enzymes.active(), ...derived]) {
    if (code === undefined) continue
    const here = active.get(name)
    if (here === undefined) active.set(name, [code])
    else here.push(code)
  }
  const before = documents.children("space", `${FOLDER}/${NODES.slice(0, -1)}`).map((name) => NODES + name)
  const names = new Set([...active.keys(), ...documents.children("space", FOLDER), ...before])
  const modules: Array<Module> = []
  const texts = new Map<string, BlobRow>()
  for (const name of names) {
    const codes = active.get(name) ?? []
    const module = { name, digests: codes.map(({ hash }) => hash) }
    if (documents.read(address(name).key)?.text === documentOf(module)?.text) continue
    modules.push(module)
    for (const { hash, text } of codes) {
      if (text !== undefined && !documents.shows(hash)) texts.set(hash, { hash, bytes: new TextEncoder().encode(text) })
    }
  }
  return { modules, texts: [...texts.values()] }
}

/** Writes the cells of what a beat activates, before any run of it. */
export const put = (modules: ReadonlyArray<Module>, stage: Stage): void => {
  for (const module of modules) stage.put(address(module.name), documentOf(module), CAPTURE)
}

/**
 * The modules that the cells name, by the names of their enzymes.
 *
 * @category getters
 * @since 0.1.0
 */
export const named = (store: Pick<SpaceStore, "below">, documents: Documents): Map<string, Module> => {
  const modules = new Map<string, Module>()
  for (const key of below(store, FOLDER)) {
    const module = fromCell(key, Document.read(documents.read(key), []))
    if (module !== undefined) modules.set(module.name, module)
  }
  return modules
}

/**
 * The modules that a cell names, by its key and its value; `undefined` for any other cell.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromCell = (key: string, value: unknown): Module | undefined => {
  if (!key.startsWith(`${FOLDER}/`)) return undefined
  const addresses: ReadonlyArray<string> = Array.isArray(value) ? value : []
  return { name: key.slice(FOLDER.length + 1), digests: addresses.map((address) => address.slice(CONTENT.length)) }
}

/** The cell of a module. */
export const address = (name: string): Address.Address => Address.parse(`${FOLDER}/${name}`)

const documentOf = ({ digests }: Module): Document.Document | undefined =>
  digests.length === 0 ? undefined : Document.encode(digests.map((digest) => CONTENT + digest))
