import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "../scripts/Host.ts"
import * as Pages from "./Pages.ts"

const pages = Pages.all()

/** The files that a page shows, which are a reader's own. */
const shown = ({ text }: Pages.Page): ReadonlySet<string> => new Set(Pages.blocksOf(text).map(({ name }) => name))

/** The links of a page to other places of the repository. */
const linksOf = ({ text }: Pages.Page): ReadonlyArray<string> =>
  [...Pages.prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^[a-z]+:/.test(link))

const FILE = /^[\w@.-]+(?:\/[\w@.-]+)*\.(?:ts|mjs|py|md|json)$/
const FOLDER = /^(?:src|test|examples|plugins|enzymes)\/[\w/-]+\/?$/

/** The paths that a page names: files by their ending, and folders that begin with one of the top folders. */
const namesOf = ({ text }: Pages.Page): ReadonlyArray<string> =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name)
    .filter((name) => FILE.test(name) || FOLDER.test(name))

/** Files of other projects, which the pages name and do not show. */
const theirs = new Set(["systole.config.ts", "package.json", "server.json", "build.json", "LICENSE.md"])

const anchorsOf = (path: string): ReadonlyArray<string> =>
  [...Pages.prose(Pages.read(path).text).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => Pages.anchor(title))

const isThere = (page: Pages.Page, name: string): boolean =>
  theirs.has(name) || shown(page).has(name) || [Pages.folderOf(page), ".", "src"].some((folder) => existsSync(join(root, folder, name)))

describe("The pages", () => {
  it("are found", () => {
    const paths = pages.map(({ path }) => path)
    assert.includeMembers(paths, ["README.md", "examples/README.md", "src/README.md", "src/ingress/README.md", "test/README.md"])
  })

  it.each(pages)("$path links to places that are there", (page) => {
    const broken = linksOf(page).filter((link) => {
      const [file = "", anchor] = link.split("#")
      const path = file === "" ? page.path : join(dirname(page.path), file)
      if (!existsSync(join(root, path))) return true
      // A link to a constant is compared with it in Limits.test.ts.
      return anchor !== undefined && !path.endsWith(".ts") && !anchorsOf(path).includes(anchor)
    })
    assert.deepStrictEqual(broken, [])
  })

  it.each(pages)("$path names files that are there", (page) => {
    assert.deepStrictEqual(namesOf(page).filter((name) => !isThere(page, name)), [])
  })

  it("name scenarios that there are, as tests of invariants", () => {
    const scenarios = readFileSync(join(root, "test/conformance/scenarios.md"), "utf8")
    const columns = [...Pages.read("test/README.md").text.matchAll(/^\| .* \| (.*) \|$/gm)].map(([, tests = ""]) => tests)
    const named = columns.flatMap((tests) => tests.replaceAll(/`[^`]*`/g, "").match(/\b[A-M]\d+\b/g) ?? [])
    assert.isAbove(named.length, 10)
    assert.deepStrictEqual(named.filter((id) => !scenarios.includes(`- **${id}** `)), [])
  })

  it("keep to their sizes", () => {
    const limits = { "README.md": 6144, "src/README.md": 8192 }
    for (const [path, limit] of Object.entries(limits)) assert.isAtMost(Buffer.byteLength(Pages.read(path).text), limit, path)
  })
})
