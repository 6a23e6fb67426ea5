/**
 * The modules of a space: whose code runs in it, as cells.
 *
 * The cell `/sys/code/<enzyme>` holds the addresses of the modules that its
 * enzymes of this name came from, in the order in which they were activated, and
 * `/sys/code/nodes/<node>` that of a node's module. It changes in the beat in which
 * another version becomes active, as a part of the capture; the same batch keeps
 * the version's text under its digest.
 *
 * The cell `/sys/enzymes/<enzyme>` says what enzymes of a name take and from which
 * files they came, while they are active and while they are left out. So a start at
 * which such a file fails to load knows what to hold.
 *
 * So the code of each beat that is kept is held. What is active is named by the
 * cell. What was active in an older beat is named by the entry of the beat that
 * replaced it, as what the cell held before; and that entry is younger, so it is
 * pruned later. (Architecture, sections 3 and 4.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { BlobRow, SpaceStore } from "../../persistence/Persistence.ts"
import { type Enzyme, make as makeEnzyme } from "../../registry/Enzyme.ts"
import { push } from "../../registry/MultiMap.ts"
import type { Code, Enzymes } from "../../registry/Registry.ts"
import type { Modules as NodeModules } from "../../scheduler/Modules.ts"
import type { Stage } from "../../stage/Stage.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import { below } from "../../persistence/Below.ts"
import type { Documents } from "./Documents.ts"

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
  readonly descriptions: ReadonlyArray<Description>
  readonly texts: ReadonlyArray<BlobRow>
}

/** Where nothing changes. */
export const unchanged: Activation = { modules: [], descriptions: [], texts: [] }

/** What the cell of an enzyme says of what it takes; nothing where there is no such enzyme any more. */
export interface Description {
  readonly name: string
  readonly document: Document.Document | undefined
}

/** Where descriptions lie. */
const DESCRIPTIONS = "/sys/enzymes"

/** Enzymes that are bound at more cells are not described: what they take is not held. */
const MAX_BINDS = 1000

/** One enzyme as it is described: enough to know what it would take. */
type Described = Pick<Enzyme, "query" | "match" | "bind"> & { readonly file: string }

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
      if (text !== undefined && !documents.shows(hash)) texts.set(hash, { hash, bytes: new TextEncoder().encode(text), code: true })
    }
  }
  return { modules, descriptions: described(enzymes, documents), texts: [...texts.values()] }
}

/** The descriptions that change, of what is active and what is left out. */
const described = (enzymes: Enzymes, documents: Documents): ReadonlyArray<Description> => {
  const byName = new Map<string, Array<Described>>()
  for (const { code, enzyme: { bind, match, query }, name } of [...enzymes.active(), ...enzymes.leftOut()]) {
    if (code?.file !== undefined && bind.length <= MAX_BINDS) push(byName, name, { file: code.file, query, match, bind })
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
 * Leaves out what files brought that fail to load now, as the cells of a space describe it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const leaveOut = (enzymes: Enzymes, documents: Documents): void => {
  if (!enzymes.hasBroken) return
  for (const name of documents.children("space", DESCRIPTIONS)) {
    const list = Document.read(documents.read(description(name).key), []) as unknown as ReadonlyArray<Described>
    for (const { bind, file, match, query } of list) {
      if (enzymes.isBroken(file)) enzymes.leaveOut(makeEnzyme({ name, query, match, bind, run: absent }), { hash: "", file })
    }
  }
}

const absent = (): never => {
  throw new Error("an enzyme that is left out does not run")
}

/**
 * The descriptions that an entry's beat wrote.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromDescription = (key: string, document: Document.Document | undefined): Description | undefined =>
  key.startsWith(`${DESCRIPTIONS}/`) ? { name: key.slice(DESCRIPTIONS.length + 1), document } : undefined

const description = (name: string): Address.Address => Address.parse(`${DESCRIPTIONS}/${name}`)

/** Writes the cells of what a beat activates, before any run of it. */
export const put = ({ descriptions, modules }: Pick<Activation, "modules" | "descriptions">, stage: Stage): void => {
  for (const module of modules) stage.put(address(module.name), documentOf(module), CAPTURE)
  for (const { document, name } of descriptions) stage.put(description(name), document, CAPTURE)
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
