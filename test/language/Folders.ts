/**
 * The figures of each folder, and the best that each has reached: `best.json`.
 *
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Pages from "../docs/Pages.ts"
import { root } from "../scripts/Host.ts"
import * as Language from "./Language.ts"

const file = join(import.meta.dirname, "best.json")

/** The folders that hold the project's sources. */
const tops = ["src", "plugins", "enzymes", "examples", "test"]

/** The name of the house among the folders: the sum over all of `src`. */
export const HOUSE = "all of src"

const sourcesBelow = (top: string): ReadonlyArray<string> =>
  readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/(?:^|\/)(?:node_modules|\.systole|\.data|dist)\//.test(name))
    .map((name) => join(top, name))

/** The row of public sources: the files that `src/index.ts` exports, and the plugins. */
export const PUBLIC = "public"

const exported = new Set(
  Array.from(readFileSync(join(root, "src/index.ts"), "utf8").matchAll(/ from "\.\/([^"]+)"/g), ([, file]) => join("src", file ?? ""))
)

const isPublic = (path: string): boolean => exported.has(path) || dirname(path) === "plugins"

/** The shares of each folder that holds sources, of public sources, of the house, which is all of `src`, and of each page. */
export const measured = (): ReadonlyMap<string, Language.Shares> => {
  const figuresOf = (path: string) => Language.measure(readFileSync(join(root, path), "utf8"))
  const figures = tops.flatMap(sourcesBelow).map((path) => ({ folder: dirname(path), isPublic: isPublic(path), of: figuresOf(path) }))
  const byFolder = Map.groupBy(figures, ({ folder }) => folder)
  const sharesOf = (some: typeof figures) => Language.shares(Language.sum(some.map(({ of }) => of)))
  const rows = [...byFolder].map(([folder, all]) => [folder, sharesOf(all)] as const)
  return new Map([
    ...rows.sort(([a], [b]) => a < b ? -1 : 1),
    [PUBLIC, sharesOf(figures.filter(({ isPublic }) => isPublic))],
    [HOUSE, sharesOf(figures.filter(({ folder }) => folder.startsWith("src")))],
    ...Pages.all().map(({ path, text }) => [path, Language.shares(Language.measurePage(text))] as const)
  ])
}

type Best = Readonly<Record<string, Language.Shares>>

/** The best that each folder has reached. */
export const best = (): Best => JSON.parse(readFileSync(file, "utf8")) as Best

/** The limits of a folder: the goals, or the best that it has reached where that falls short of them. */
export const limits = (folder: string): Language.Shares => {
  const reached = best()[folder]
  const goals = folder === PUBLIC ? Language.publicGoals : Language.goals
  const limit = (name: keyof Language.Shares): number => Math.max(goals[name], reached?.[name] ?? 0)
  return Language.shared(limit)
}

/** Keeps the figures of today as the best. */
export const keep = (): void => writeFileSync(file, `${JSON.stringify(Object.fromEntries(measured()), null, 1)}\n`)
