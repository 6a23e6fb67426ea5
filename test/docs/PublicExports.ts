/**
 * The declarations that the package exports to its users, derived from the exports of `package.json` and what they export again.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "../scripts/Host.ts"

/** A name that a module exports: `source` of the module `from`, where "*" is the whole module. */
interface Reexport {
  readonly name: string
  readonly from: string
  readonly source: string
}

/** A docstring of a module, with the exported declaration that it describes, or that has the described member. */
export interface Documented {
  readonly name: string
  readonly text: string
}

const DECLARATION = /^export (?:declare |abstract |async )*(?:const|let|class|interface|type|function\*?|enum) (\w+)/gm
const REEXPORT = /^(im|ex)port (?:type )?(?:(\*)(?: as (\w+))?|\{([^}]*)\})(?: from "(\.[^"]+)")?$/gm

const textOf = (file: string): string => readFileSync(join(root, file), "utf8")

/** The names in braces, each with its name inside the other module. */
const named = (list: string): ReadonlyArray<{ readonly name: string; readonly source: string }> =>
  list.split(",").map((part) => part.trim().replace(/^type /, "")).filter((part) => part !== "").map((part) => {
    const [source = "", name = source] = part.split(" as ")
    return { name, source }
  })

/** The names that a module imports from others, or exports from them. */
const clauses = (file: string, kind: "im" | "ex"): ReadonlyArray<Reexport> =>
  [...textOf(file).matchAll(REEXPORT)].filter(([, found, , , , path]) => found === kind && path !== undefined)
    .flatMap(([, , star, alias = "*", list = "", path = ""]) => {
      const from = join(dirname(file), path)
      return star === undefined ? named(list).map((part) => ({ ...part, from })) : [{ name: alias, from, source: "*" }]
    })

/** The names that a module exports and other modules declare. */
const reexports = (file: string): ReadonlyArray<Reexport> => {
  const imports = new Map(clauses(file, "im").map((found) => [found.name, found]))
  const local = [...textOf(file).matchAll(REEXPORT)]
    .filter(([, kind, , , list, path]) => kind === "ex" && list !== undefined && path === undefined)
    .flatMap(([, , , , list = ""]) => named(list))
  return [
    ...clauses(file, "ex"),
    ...local.flatMap(({ name, source }) => {
      const found = imports.get(source)
      return found === undefined ? [] : [{ ...found, name }]
    })
  ]
}

/** The names of the declarations that a module exports. */
export const declarations = (file: string): ReadonlyArray<string> => [...textOf(file).matchAll(DECLARATION)].map(([, name = ""]) => name)

/** The source of a built file, such as `src/index.ts` of `./dist/src/index.d.ts`. */
const sourceOf = (built: string): string => built.replace(/^\.\/dist\//, "").replace(/(?:\.d\.ts|\.js)$/, ".ts")

/** The modules that users import by the name of the package. */
export const entries = (): ReadonlyArray<string> => {
  const { exports } = JSON.parse(textOf("package.json")) as { readonly exports: Readonly<Record<string, string | Record<string, string>>> }
  const sources = new Set(Object.values(exports).flatMap((place) => typeof place === "string" ? [] : Object.values(place)).map(sourceOf))
  return [...sources].flatMap((source) =>
    source.endsWith("/*.ts")
      ? readdirSync(join(root, dirname(source))).filter((file) => file.endsWith(".ts")).map((file) => join(dirname(source), file))
      : [source])
}

/** The exported declarations of users, as `file#name`. */
export const all = (): ReadonlySet<string> => {
  const found = new Set<string>()
  const visited = new Set<string>()
  const visit = (file: string, name: string): void => {
    if (visited.has(`${file}#${name}`) || !existsSync(join(root, file))) return
    visited.add(`${file}#${name}`)
    for (const declared of declarations(file)) if (name === "*" || name === declared) found.add(`${file}#${declared}`)
    for (const again of reexports(file)) {
      if (name === "*" || name === again.name) visit(again.from, again.source)
      else if (again.name === "*") visit(again.from, name)
    }
  }
  for (const entry of entries()) visit(entry, "*")
  return found
}

/** The docstrings of a module, each with the name of its exported declaration; "" for those of the module itself. */
export const docstrings = (file: string): ReadonlyArray<Documented> => {
  const text = textOf(file)
  const declared = [...text.matchAll(DECLARATION)].map(({ 1: name = "", index }) => ({ name, index }))
  return [...text.matchAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\/\n([ ]*)/g)].map(({ 0: found, 1: indent = "", index }) => {
    const end = index + found.length
    const name = indent === ""
      ? declared.find((other) => other.index === end)?.name
      : declared.findLast((other) => other.index < index)?.name
    return { name: name ?? "", text: found }
  })
}
