/**
 * The regular expressions of the sources, from their syntax trees.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { root } from "../scripts/Host.ts"

/** An expression, and the places where it stands. */
export interface Expression {
  readonly source: string
  readonly flags: string
  readonly places: Array<string>
}

/** A node of a syntax tree, of which these fields are used. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

/** The initial values of the constants of a file, by name. */
type Constants = ReadonlyMap<string, Node>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** All nodes of a tree. */
const nodesOf = (tree: unknown): ReadonlyArray<Node> => {
  const found: Array<Node> = []
  const waiting: Array<unknown> = [tree]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value)
    else if (isNode(value)) {
      found.push(value)
      waiting.push(...Object.values(value).filter((child) => typeof child === "object" && child !== null))
    }
  }
  return found
}

/** The text of an expression of literals, templates, sums and constants; `undefined` if it holds another value. */
const textOf = (node: unknown, constants: Constants): string | undefined => {
  if (!isNode(node)) return undefined
  const all = (nodes: ReadonlyArray<unknown>): ReadonlyArray<string | undefined> => nodes.map((part) => textOf(part, constants))
  const joined = (parts: ReadonlyArray<string | undefined>): string | undefined => parts.includes(undefined) ? undefined : parts.join("")
  switch (node.type) {
    case "Literal":
      return typeof node["value"] === "string" ? node["value"] : undefined
    case "Identifier":
      return textOf(constants.get(node["name"] as string), constants)
    case "BinaryExpression":
      return node["operator"] === "+" ? joined(all([node["left"], node["right"]])) : undefined
    case "TemplateLiteral": {
      const texts = (node["quasis"] as ReadonlyArray<{ readonly value: { readonly cooked: string } }>).map(({ value }) => value.cooked)
      const values = all(node["expressions"] as ReadonlyArray<unknown>)
      return joined(texts.flatMap((text, i) => [text, ...i < values.length ? [values[i]] : []]))
    }
    default:
      return undefined
  }
}

const constantsOf = (nodes: ReadonlyArray<Node>): Constants =>
  new Map(nodes.filter(({ type }) => type === "VariableDeclarator").flatMap(({ id, init }) =>
    isNode(id) && id.type === "Identifier" && isNode(init) ? [[id["name"] as string, init] as const] : []))

const isRegExp = ({ callee, type }: Node): boolean =>
  (type === "NewExpression" || type === "CallExpression") && isNode(callee) && callee["name"] === "RegExp"

/** The expressions of a text, with the offset of each. The source of one that is not constant is `undefined`. */
const inText = (text: string) => {
  const nodes = nodesOf(parseAst(text, { lang: "ts" }))
  const constants = constantsOf(nodes)
  return nodes.flatMap((node) => {
    const { regex, start } = node
    if (node.type === "Literal" && typeof regex === "object" && regex !== null) {
      const { flags, pattern } = regex as { readonly flags: string; readonly pattern: string }
      return [{ source: pattern, flags, start }]
    }
    if (!isRegExp(node)) return []
    const [source, flags] = node["arguments"] as ReadonlyArray<unknown>
    return [{ source: textOf(source, constants), flags: textOf(flags, constants) ?? "", start }]
  })
}

/** The expressions of some files, and the places of those that are not constant. */
export interface Found {
  readonly known: ReadonlyArray<Expression>
  readonly unknown: ReadonlyArray<string>
}

/** The expressions of all files below some folders. */
const below = (folders: ReadonlyArray<string>): Found => {
  const known = new Map<string, Expression>()
  const unknown: Array<string> = []
  for (const folder of folders) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".ts")) continue
      const text = readFileSync(join(root, folder, file), "utf8")
      for (const { flags, source, start } of inText(text)) {
        const place = `${folder}/${file}:${text.slice(0, start).split("\n").length}`
        if (source === undefined) {
          unknown.push(place)
          continue
        }
        const expression = known.get(`/${source}/${flags}`) ?? { source, flags, places: [] }
        expression.places.push(place)
        known.set(`/${source}/${flags}`, expression)
      }
    }
  }
  return { known: [...known.values()], unknown }
}

/** The expressions of all sources. */
export const ofSources = (): Found => below(["src", "plugins", "enzymes"])
