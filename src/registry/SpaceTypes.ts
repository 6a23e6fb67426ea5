/**
 * The types of a space: the families, cells and signals that its active modules declare, by their paths.
 *
 * @module
 */
import type { Address } from "../cell/Address.ts"
import { relation, type Template } from "../cell/Template.ts"
import { CellMistyped, type Declared, type Mistake, type Type } from "../cell/Type.ts"
import type { Declaring } from "./Declares.ts"
import * as JsonSchema from "./JsonSchema.ts"

/** A module with what it declares. */
export interface Declarer {
  readonly name: string
  readonly declares: ReadonlyArray<Declaring>
}

/** A declaration of a space, and the name of the module that made it first. */
export interface SpaceType {
  readonly declared: Declared
  readonly by: string
}

const schemas = new WeakMap<Type, string>()

/**
 * The JSON Schema of a type, as text. It is made once, when the first module that declares the type is registered.
 *
 * @throws InvalidType, if the schema is given by a function and does not do; or the failure of a schema without a JSON Schema
 */
export const schemaOf = (type: Type): string => {
  let text = schemas.get(type)
  if (text === undefined) schemas.set(type, text = JsonSchema.of(type.schema))
  return text
}

/**
 * The types of a space.
 */
export class SpaceTypes {
  /** The declarations, one for each path, narrower paths first. */
  readonly all: ReadonlyArray<SpaceType>

  constructor(modules: Iterable<Declarer>) {
    const found = new Map<string, SpaceType>()
    for (const { declares, name } of modules) {
      for (const { declared } of declares) {
        if (declared === undefined) continue
        const key = `${declared.kind} ${declared.template.path}`
        if (!found.has(key)) found.set(key, { declared, by: name })
      }
    }
    this.all = [...found.values()].sort((a, b) => a.declared.template.names.length - b.declared.template.names.length)
  }

  /** The reason why a module cannot join these declarations; `undefined` if it can. */
  clash({ declares, name }: Declarer): string | undefined {
    const known = [...this.all]
    for (const { declared } of declares) {
      if (declared === undefined) continue
      const unfit = unfitness(declared)
      if (unfit !== undefined) return unfit
      const other = known.find((one) => contradicts(one.declared, declared))
      known.push({ declared, by: name })
      if (other === undefined) continue
      const { path } = declared.template
      const first = other.declared.template.path
      return path === first
        ? `it declares ${path} with another schema than "${other.by}"; give both one declaration, such as in a file that both import`
        : `it declares ${path}, and "${other.by}" declares ${first}: they name common cells, and none of them is narrower. Rename one`
    }
    return undefined
  }

  /**
   * Checks a value that is written to an address from outside.
   *
   * @throws CellMistyped
   */
  check(address: Address, value: unknown): void {
    if (value === undefined || this.all.length === 0) return
    const declared = this.find("cell", address.id)
    const type = address.path.reduce<Type | undefined>((type, key) => type?.into(key), declared?.type)
    const mistakes: ReadonlyArray<Mistake> = type?.mistakes(value) ?? []
    if (declared !== undefined && mistakes.length > 0) {
      throw new CellMistyped({ address: address.text, path: declared.template.path, mistakes })
    }
  }

  /** The type of a signal; `undefined` if it has none. */
  signal(path: string | undefined): Declared | undefined {
    return path === undefined || this.all.length === 0 ? undefined : this.find("signal", path)
  }

  private find(kind: Declared["kind"], path: string): Declared | undefined {
    const names = path.slice(1).split("/")
    return this.all.find(({ declared }) => declared.kind === kind && matches(declared.template, names))?.declared
  }
}

/**
 * The first module that cannot be together with those before it, and the reason; `undefined` if all can.
 */
export const clashAmong = <A>(
  modules: Iterable<A>,
  declarerOf: (module: A) => Declarer
): { readonly module: A; readonly reason: string } | undefined => {
  const before: Array<Declarer> = []
  let types = new SpaceTypes(before)
  for (const module of modules) {
    const declarer = declarerOf(module)
    if (declarer.declares.length === 0) continue
    const reason = types.clash(declarer)
    if (reason !== undefined) return { module, reason }
    before.push(declarer)
    types = new SpaceTypes(before)
  }
  return undefined
}

/** The reason why a declaration is none, which is known once its schema is used. */
const unfitness = ({ type }: Declared): string | undefined => {
  try {
    schemaOf(type)
    return undefined
  } catch (error) {
    return `it declares ${type.path}, and its schema cannot be used: ${(error as Error).message}`
  }
}

const matches = ({ segments }: Template, names: ReadonlyArray<string>): boolean =>
  segments.length === names.length && segments.every((segment, i) => segment.startsWith(":") || segment === names[i])

const contradicts = (a: Declared, b: Declared): boolean => {
  if (a.kind !== b.kind || a === b) return false
  const found = relation(a.template, b.template)
  return found === "crossed" || (found === "equal" && a.type !== b.type && schemaOf(a.type) !== schemaOf(b.type))
}
