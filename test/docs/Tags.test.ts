import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import * as PublicExports from "./PublicExports.ts"

/** The categories of the reference. */
const CATEGORIES = [
  "combinators", "components", "constructors", "decoding", "encoding", "errors", "getters", "guards", "hooks", "layers", "models",
  "predicates", "references", "schemas", "services", "slices"
]

const VERSION = /^0\.[12]\.0$/

const files = ["src", "plugins", "enzymes", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.split("/").includes("node_modules"))
    .map((file) => join(folder, file)))

/** The values of a tag in a docstring. */
const tags = (text: string, tag: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^[ /*]*@${tag} (.*)$`, "gm"))].map(([, value = ""]) => value.replace(/\s*\*\/$/, ""))

/** The docstrings with one of the tags, as `file#name`. */
const tagged = files.flatMap((file) =>
  PublicExports.docstrings(file)
    .map(({ name, text }) => ({ id: `${file}#${name}`, since: tags(text, "since"), category: tags(text, "category") }))
    .filter(({ since, category }) => since.length + category.length > 0))

describe("The tags of docstrings", () => {
  const known = PublicExports.all()

  it("find the exports of each entry of the package", () => {
    assert.includeMembers([...known], [
      "src/registry/Enzyme.ts#make", "src/client/Client.ts#connect", "src/main/workers/index.ts#make", "src/cell/Cell.ts#make",
      "src/kernel/view/Shown.ts#ShownReceipt", "src/contract/Signals.ts#post"
    ])
  })

  it("stand on exports of the package alone", () => {
    assert.deepStrictEqual(tagged.filter(({ id }) => !known.has(id)).map(({ id }) => id), [])
  })

  it("are one version and one category of the reference", () => {
    const fits = (values: ReadonlyArray<string>, isKnown: (value: string) => boolean): boolean =>
      values.length <= 1 && values.every(isKnown)
    const breaches = tagged.filter(({ since, category }) =>
      !fits(since, (version) => VERSION.test(version)) || !fits(category, (name) => CATEGORIES.includes(name)))
    assert.isAbove(tagged.length, 100)
    assert.deepStrictEqual(breaches.map(({ id }) => id), [])
  })
})
