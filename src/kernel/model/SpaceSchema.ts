/**
 * The schema of a space: the types that its active modules declare, as cells.
 *
 * The cell `/sys/schema` names each path with a type, and `/sys/schema/<path>` holds its JSON Schema and the digest of that; `{id}`
 * stands for `:id` there. The latter has the label of the cells that it describes, the former all labels. A beat that activates
 * other modules writes them. A space without types has no such cells.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Template } from "../../cell/Template.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import { type Declarer, schemaOf, SpaceTypes } from "../../registry/SpaceTypes.ts"
import type { Modules } from "../../scheduler/definition/Modules.ts"
import { SCHEMA as FOLDER } from "../../stage/Labels.ts"
import type { Documents } from "./Documents.ts"
import type { TitleCell } from "./Titles.ts"

/** The modules of a runtime. */
export interface Active {
  readonly enzymes: Enzymes
  readonly nodes: Modules
}

/** The types of a runtime's modules, and the versions of these. */
interface Known {
  readonly revision: number
  readonly changes: number
  readonly types: SpaceTypes
}

const known = new WeakMap<Enzymes, Known>()

/**
 * The types of all modules, those included that the next capture activates.
 */
export const typesOf = ({ enzymes, nodes }: Active): SpaceTypes => {
  const before = known.get(enzymes)
  if (before?.revision === enzymes.revision && before.changes === nodes.changes.length) return before.types
  const types = new SpaceTypes(declarers({ enzymes, nodes }))
  known.set(enzymes, { revision: enzymes.revision, changes: nodes.changes.length, types })
  return types
}

const declarers = ({ enzymes, nodes }: Active): ReadonlyArray<Declarer> =>
  [...enzymes.all().map(({ enzyme }) => enzyme), ...nodes.all().map(({ definition }) => definition)]

/** The digests of the schemas of a path. */
type Digests = Readonly<Record<string, string>>

/** The cells that change with the active modules. */
export const activation = (
  active: Active,
  documents: Pick<Documents, "read">,
  hash: (text: string) => string
): ReadonlyArray<TitleCell> => {
  const { all } = typesOf(active)
  const before = Document.read(documents.read(FOLDER), []) as Readonly<Record<string, Digests>> | undefined
  if (all.length === 0 && before === undefined) return []
  const cells = new Map<string, Record<string, unknown>>()
  const index: Record<string, Record<string, string>> = {}
  for (const { declared: { kind, template, type } } of all) {
    const text = schemaOf(type)
    const digest = hash(text)
    ;(index[template.path] ??= {})[kind] = digest
    cells.set(keyOf(template), { ...cells.get(keyOf(template)), path: template.path, [kind]: { digest, schema: JSON.parse(text) } })
  }
  const gone = Object.keys(before ?? {}).filter((path) => index[path] === undefined)
    .map((path) => ({ key: keyAt(path), document: undefined }))
  const changed = [...cells].map(([key, value]) => ({ key, document: Document.encode(value) }))
  const folder = { key: FOLDER, document: all.length === 0 ? undefined : Document.encode(index) }
  return [folder, ...changed, ...gone].filter(({ document, key }) => documents.read(key)?.text !== document?.text)
}

/** A changed cell of an entry, from its key and text. */
export const fromCell = (key: string, text: string | undefined): TitleCell | undefined =>
  Address.isWithin(FOLDER, key) ? { key, document: text === undefined ? undefined : Document.decode(text) } : undefined

const keyOf = ({ path }: Template): string => keyAt(path)

const keyAt = (path: string): string => FOLDER + path.replaceAll(/\/:(\w+)/g, "/{$1}")
