/**
 * The generated parts of the README pages: each stands between two comments, `<!-- NAME -->` and `<!-- /NAME -->`.
 *
 * @module
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Option from "effect/Option"
import { Enzyme, Slices } from "systole"
import { exitOf } from "../../src/cli/CliFailure.ts"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import * as Metrics from "../../src/diagnostic/Metrics.ts"
import { topics } from "../../src/diagnostic/TopicReference.ts"
import { kinds } from "../../src/contract/Refusal.ts"
import { statusOf } from "../../src/ingress/wire/Problem.ts"
import * as ServedEndpoints from "../../src/ingress/ServedEndpoints.ts"
import * as Limits from "../../src/kernel/model/Limits.ts"
import * as EnzymeFields from "../../src/registry/EnzymeFields.ts"
import { root } from "../scripts/Host.ts"
import * as Docstrings from "./Docstrings.ts"
import * as Help from "./Help.ts"
import * as Coverage from "../simulation/Coverage.ts"
import * as Plan from "../simulation/Plan.ts"
import type { Page } from "./Pages.ts"
import * as Pages from "./Pages.ts"
import * as Routes from "./Routes.ts"

/** The text of a cell of a table, on one line and without a bar of its own. */
const cell = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|")

/** A Markdown table. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

const code = (text: string): string => `\`${text}\``

/** The endpoints that the application serves. */
export const endpoints = (): ReadonlyArray<Endpoint> => ServedEndpoints.of(Slices.all, { isDebugged: true })

const routes = (): string =>
  Routes.sections(endpoints()).map(([title, rows]) => `### ${title}\n\n${table(["request", "verb", "takes", "does"], rows)}`).join("\n\n")

const described = (): string => {
  const rows = Object.entries(topics).map(([topic, { means, remedy, severity }]) => [code(topic), code(severity), means, remedy])
  return table(["topic", "severity", "meaning", "remedy"], rows)
}

const codes = (): string => {
  const sorted = Object.entries(kinds).sort(([a], [b]) => a < b ? -1 : 1)
  const rows = sorted.map(([name, kind]) => [code(name), kind, String(statusOf(kind)), String(exitOf(name))])
  return table(["code", "kind", "HTTP status", "exit code"], rows)
}

const metrics = (): string => {
  const rows = Object.entries(Metrics.table as Readonly<Record<string, Metrics.Definition>>)
    .map(([name, { attributes = [], does, kind, unit }]) => [code(name), kind, code(unit), attributes.map(code).join(", "), does])
  return table(["metric", "kind", "unit", "attributes", "meaning"], rows)
}

const flag = ({ name, type }: { readonly name: string; readonly type: string }): string =>
  code(type === "boolean" ? `--${name}` : `--${name} ${type.toUpperCase()}`)

const titled = ({ doc, name }: Help.Helped): string => {
  const parameters = [
    ...(doc.args ?? []).map(({ description, name }) => [code(name), Option.getOrElse(description, () => "")]),
    ...doc.flags.map((given) => [flag(given), Option.getOrElse(given.description, () => "")])
  ].filter(([, description]) => description !== "")
  const examples = (doc.examples ?? []).map(({ command }) => `    ${command}`)
  const parts = [`### ${name}`, `    ${doc.usage}`, `${doc.description}.`]
  if (parameters.length > 0) parts.push(table(["parameter", "meaning"], parameters))
  if (examples.length > 0) parts.push(["For example:", "", ...examples].join("\n"))
  return parts.join("\n\n")
}

const commands = async (): Promise<string> => {
  const all = await Help.all()
  return all.filter(({ doc }) => (doc.subcommands ?? []).length === 0).map(titled).join("\n\n")
}

const exits = async (): Promise<string> => {
  const [{ doc }] = await Help.all() as [Help.Helped]
  const listed = /Exit codes: (.*)\.$/s.exec(doc.description)?.[1] ?? ""
  return table(["exit code", "meaning"], listed.split("; ").map((text) => [text.slice(0, 1), text.slice(2)]))
}

/** The number of seeds whose plans count as covered. */
const SEEDS = 20_000

/** The kinds of events in simulated worlds. A pair of kinds that no world has stops the generation. */
const simulation = (): string => {
  const plans = function*() {
    for (let seed = 0; seed < SEEDS; seed++) yield Plan.make(seed)
  }
  const found = Coverage.meetings(plans())
  const apart = found.filter(({ together }) => together === 0).map(({ kind, rarest }) => `${kind} and ${rarest}`)
  if (apart.length > 0) throw new Error(`No world has these together: ${apart.join("; ")}. See to test/simulation/Plan.ts`)
  const rows = found.map(({ kind, rarest, together, worlds }) => [kind, String(worlds), rarest, String(together)])
  return table(["kind", "worlds", "rarest beside it", "worlds with both"], rows)
}

const limits = (): string => {
  const texts = Docstrings.of("src/kernel/model/Limits.ts", "const table")
  const rows = Object.values(Limits.each((limit: { readonly default: number; readonly object?: number }, name) => {
    const bound = limit.object === undefined ? "" : limit.object === Infinity ? "not applied" : limit.object.toLocaleString("en")
    return [code(`limits.${name}`), limit.default.toLocaleString("en"), bound, texts.get(name)?.means ?? ""]
  }))
  return table(["field", "default", "at most in an object", "meaning"], rows)
}

/** The fields of an enzyme. The defaults are those of one with the required fields alone. */
const enzyme = (): string => {
  const file = "src/registry/Enzyme.ts"
  const functions = Docstrings.of(file, "interface Functions<")
  const texts = new Map([...functions, ...Docstrings.of("src/registry/EnzymeFields.ts", "const fields")])
  const made: object = Enzyme.make({ name: "a", query: "", run: () => undefined })
  const rows = Object.keys(made).filter((name) => name !== "_tag").map((name) => {
    const { means, value = fields[name]?.isRequired === true ? "required" : defaultOf(made, name) } = texts.get(name) ?? { means: "" }
    return [code(name), value, means]
  })
  return table(["field", "default", "meaning"], rows)
}

const fields: Readonly<Record<string, { readonly isRequired: boolean }>> = EnzymeFields.fields

const defaultOf = (made: object, name: string): string => {
  const value: unknown = Reflect.get(made, name)
  return value === undefined ? "none" : code(JSON.stringify(value))
}

/** The generators, by the names of their parts. */
const generators: Readonly<Record<string, () => string | Promise<string>>> = {
  codes, commands, enzyme, exits, limits, metrics, routes, simulation, topics: described
}

const part = /<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->/g

/** The names of a page's generated parts. */
export const partsOf = ({ text }: Page): ReadonlyArray<string> => [...text.matchAll(part)].map(([, name = ""]) => name)

/** A page as it has to be: each generated part made anew. */
export const render = async (page: Page): Promise<string> => {
  const made = await Promise.all(partsOf(page).map(async (name) => {
    const generate = generators[name]
    if (generate === undefined) throw new Error(`${page.path} has a part ${name}, which no generator makes`)
    return [name, `<!-- ${name} -->\n\n${await generate()}\n\n<!-- /${name} -->`] as const
  }))
  const parts = new Map(made)
  return page.text.replaceAll(part, (found, name: string) => parts.get(name) ?? found)
}

/** Writes each page that differs from that; answers their paths. */
export const write = async (): Promise<ReadonlyArray<string>> => {
  const pages = await Promise.all(Pages.all().map(async (page) => ({ ...page, made: await render(page) })))
  const changed = pages.filter(({ made, text }) => made !== text)
  for (const { made, path } of changed) writeFileSync(join(root, path), made)
  return changed.map(({ path }) => path)
}
