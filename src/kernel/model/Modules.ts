/**
 * The modules of a space: the code that runs in it, as cells.
 *
 * The cell `/sys/code/<enzyme>` holds the addresses of the modules of its enzymes
 * with this name, in order of activation. The cell `/sys/code/nodes/<node>` holds
 * that of a node's module, and `/sys/code/services/<plugin>` that of a plugin
 * whose services an active enzyme takes. The capture of a beat that activates another version
 * changes the cell. The same batch stores the version's text under its digest.
 *
 * The cell `/sys/enzymes/<enzyme>` describes the signals and the source files of
 * enzymes with a name, both active and left out. If a file fails to load at a
 * start, the space knows which signals to hold.
 *
 * The code of each retained beat is thereby retained. The cell names the active
 * code. The journal entry of a later activation names the older code, as the
 * cell's previous value. That entry is younger, so it is pruned later.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { BlobRow, SpaceStore } from "../../persistence/Persistence.ts"
import { type Enzyme, make as makeEnzyme } from "../../registry/Enzyme.ts"
import { push } from "../../registry/MultiMap.ts"
import type { Code, Entry, Enzymes } from "../../registry/Registry.ts"
import type { Modules as NodeModules } from "../../scheduler/definition/Modules.ts"
import type { Stage } from "../../stage/Stage.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import { below } from "../../persistence/Below.ts"
import type { Documents } from "./Documents.ts"

/** The folder of the cells. */
export const FOLDER = "/sys/code"

/** The prefix of node names, which sets them apart from enzyme names. */
export const NODES = "nodes/"

/** The prefix of plugins whose services an enzyme takes. */
const SERVICES = "services/"

/** The folder of content. */
const CONTENT = "/cas/"

/** The modules of the enzymes with one name, of a node, or of a plugin with services, by their digests; empty once there are none. */
export interface Module {
  readonly name: string
  readonly digests: ReadonlyArray<string>
}

/** The changes of a beat's activation: names with other modules, and texts that are not stored yet. */
export interface Activation {
  readonly modules: ReadonlyArray<Module>
  readonly descriptions: ReadonlyArray<Description>
  readonly texts: ReadonlyArray<BlobRow>
}

/** The activation without changes. */
export const noChange: Activation = { modules: [], descriptions: [], texts: [] }

/** The described signals of an enzyme; `undefined` once it no longer exists. */
export interface Description {
  readonly name: string
  readonly document: Document.Document | undefined
}

/** The folder of descriptions. */
const DESCRIPTIONS = "/sys/enzymes"

/** The most bindings of a described enzyme. Signals of one with more are not held. */
const MAX_BINDS = 1000

/** The description of one enzyme, from which the signals that it would take are known. */
type Described = Pick<Enzyme, "query" | "match" | "bind"> & { readonly file: string; readonly target?: "required" }

/**
 * The node of a module's name; `undefined` if it names enzymes.
 */
export const nodeOf = ({ name }: Module): string | undefined => name.startsWith(NODES) ? name.slice(NODES.length) : undefined

/**
 * The plugin of a module with services; `undefined` for any other module.
 */
export const pluginOf = ({ name }: Module): string | undefined => name.startsWith(SERVICES) ? name.slice(SERVICES.length) : undefined

/** The modules of the services that enzymes take, each once. */
const servicesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Named> => {
  const codes = new Map<string, Named>()
  for (const { code } of entries) {
    for (const { code: module } of code?.services ?? []) {
      if (module !== undefined) codes.set(`${module.plugin}/${module.hash}`, { code: module, name: SERVICES + module.plugin })
    }
  }
  return [...codes.values()]
}

/** A module under the name of its cell. */
interface Named {
  readonly name: string
  readonly code: Pick<Code, "hash" | "text"> | undefined
}

/**
 * The changes from the modules that the cells name to the active ones: to enzymes and to nodes, or to either alone if the
 * others are as they were.
 */
export const activation = (
  { enzymes, nodes }: { readonly enzymes: Enzymes | undefined; readonly nodes: NodeModules | undefined },
  documents: Documents
): Activation => {
  const active = new Map<string, Array<Pick<Code, "hash" | "text">>>()
  const derived = nodes?.all().map(({ code, definition: { name } }) => ({ code, name: NODES + name })) ?? []
  const entries = enzymes?.active() ?? []
  for (const { code, name } of [...entries, ...servicesOf(entries), ...derived] as ReadonlyArray<Named>) {
    if (code === undefined) continue
    const here = active.get(name)
    if (here === undefined) active.set(name, [code])
    else here.push(code)
  }
  const before = nodes === undefined ? [] : documents.children("space", `${FOLDER}/${NODES.slice(0, -1)}`).map((name) => NODES + name)
  const served = () => documents.children("space", `${FOLDER}/${SERVICES.slice(0, -1)}`).map((name) => SERVICES + name)
  const known = enzymes === undefined ? [] : [...documents.children("space", FOLDER), ...served()]
  const names = new Set([...active.keys(), ...known, ...before])
  const modules: Array<Module> = []
  const texts = new Map<string, BlobRow>()
  for (const name of names) {
    const codes = active.get(name) ?? []
    const module = { name, digests: codes.map(({ hash }) => hash) }
    if (documents.read(address(name).key)?.text === documentOf(module)?.text) continue
    modules.push(module)
    for (const { hash, text } of codes) {
      if (text !== undefined && !documents.shows(hash)) texts.set(hash, { hash, bytes: new TextEncoder().encode(text), code: true })
    }
  }
  return { modules, descriptions: enzymes === undefined ? [] : described(enzymes, documents), texts: [...texts.values()] }
}

/** The changed descriptions, of active enzymes and of those left out. */
const described = (enzymes: Enzymes, documents: Documents): ReadonlyArray<Description> => {
  const byName = new Map<string, Array<Described>>()
  for (const { code, enzyme: { bind, match, query, target }, name } of [...enzymes.active(), ...enzymes.leftOut()]) {
    if (code?.file === undefined || bind.length > MAX_BINDS) continue
    push(byName, name, { file: code.file, query, match, bind, ...target && { target } })
  }
  const names = new Set([...byName.keys(), ...documents.children("space", DESCRIPTIONS)])
  const changes: Array<Description> = []
  for (const name of names) {
    const list = byName.get(name)?.sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : 0)
    const document = list && Document.encode(list)
    if (documents.read(description(name).key)?.text !== document?.text) changes.push({ name, document })
  }
  return changes
}

/**
 * Registers the enzymes of files that fail to load as left out, by the descriptions in a space's cells.
 */
export const leaveOut = (enzymes: Enzymes, documents: Documents): void => {
  if (!enzymes.hasBroken) return
  for (const name of documents.children("space", DESCRIPTIONS)) {
    const list = Document.read(documents.read(description(name).key), []) as unknown as ReadonlyArray<Described>
    for (const { file, ...described } of list) {
      if (enzymes.isBroken(file)) enzymes.leaveOut(makeEnzyme({ name, ...described, run: absent }), { hash: "", file })
    }
  }
}

const absent = (): never => {
  throw new Error("an enzyme that is left out does not run")
}

/**
 * The description that an entry's beat wrote to a cell.
 */
export const fromDescription = (key: string, document: Document.Document | undefined): Description | undefined =>
  key.startsWith(`${DESCRIPTIONS}/`) ? { name: key.slice(DESCRIPTIONS.length + 1), document } : undefined

const description = (name: string): Address.Address => Address.parse(`${DESCRIPTIONS}/${name}`)

/** Writes the cells of an activation, before any run of the beat. */
export const put = ({ descriptions, modules }: Pick<Activation, "modules" | "descriptions">, stage: Stage): void => {
  for (const module of modules) stage.put(address(module.name), documentOf(module), CAPTURE)
  for (const { document, name } of descriptions) stage.put(description(name), document, CAPTURE)
}

/**
 * The modules that the cells name, by the names of their enzymes.
 */
export const modulesOf = (store: Pick<SpaceStore, "below">, documents: Documents): Map<string, Module> => {
  const modules = new Map<string, Module>()
  for (const key of below(store, FOLDER)) {
    const module = fromCell(key, Document.read(documents.read(key), []))
    if (module !== undefined) modules.set(module.name, module)
  }
  return modules
}

/**
 * The modules in a cell, by its key and its value; `undefined` for any other cell.
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
