/**
 * `npm run lines [-- COMMIT …]`: the lines of code by folder and of named sets of files, of one commit or several side by side.
 *
 * @module
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./Host.ts"
import * as Options from "./Options.ts"
import * as SourceLines from "./SourceLines.ts"
import { render } from "./Table.ts"

/** The most bytes of what git prints. */
const MAX_OUTPUT = 1 << 28

const git = (...args: ReadonlyArray<string>): string => execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: MAX_OUTPUT })

/** The folders whose files count. */
const COUNTED = ["src", "plugins", "enzymes", "test/docs"]

const isCounted = (path: string): boolean => path.endsWith(".ts") && !path.endsWith(".test.ts")

/** The sources of a commit, or those of the working tree. */
const sourcesOf = (commit: string): ReadonlyArray<SourceLines.Source> => {
  const tree = ["ls-tree", "-r", "--name-only", commit]
  const list = commit === WORKING ? ["ls-files", "--cached", "--others", "--exclude-standard", "--"] : tree
  const removed = commit === WORKING ? new Set(git("ls-files", "--deleted").split("\n")) : new Set()
  const paths = git(...list, ...COUNTED).split("\n").filter((path) => isCounted(path) && !removed.has(path))
  const texts = commit === WORKING ? paths.map((path) => readFileSync(join(root, path), "utf8")) : textsOf(commit, paths)
  return paths.map((path, i) => ({ path, text: texts[i]! }))
}

/** The texts of files of a commit, from one process: a header line with the size in bytes precedes each. */
const textsOf = (commit: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const input = paths.map((path) => `${commit}:${path}\n`).join("")
  const output = execFileSync("git", ["cat-file", "--batch"], { cwd: root, input, maxBuffer: MAX_OUTPUT })
  let at = 0
  return paths.map(() => {
    const begin = output.indexOf("\n", at) + 1
    const size = Number(output.toString("utf8", at, begin).split(" ")[2])
    at = begin + size + 1
    return output.toString("utf8", begin, begin + size)
  })
}

/** The name of the working tree among commits. */
const WORKING = "working"

const { others } = Options.read({
  script: "lines",
  about: `Counts the lines of code without comments and blank lines, of commits side by side; "${WORKING}" is the working tree.`,
  others: "[COMMIT …]",
  options: {}
})
const commits = others.length === 0 ? [WORKING] : others
const counted = commits.map((commit) => SourceLines.sums(sourcesOf(commit)))

/** The rows of sums, with the change from the first commit to the last. */
const rows = (of: (sums: typeof counted[number]) => SourceLines.Sums): ReadonlyArray<ReadonlyArray<string>> => {
  const names = [...new Set(counted.flatMap((sums) => [...of(sums).keys()]))].sort()
  return names.map((name) => {
    const lines = counted.map((sums) => of(sums).get(name) ?? 0)
    return [name, ...lines.map(String), ...lines.length > 1 ? [String(lines.at(-1)! - lines[0]!)] : []]
  })
}

const total = (sums: typeof counted[number]): SourceLines.Sums => new Map([["all", [...sums.folders.values()].reduce((a, b) => a + b, 0)]])

const columns = [...commits, ...commits.length > 1 ? ["change"] : []]
console.log(render(["folder", ...columns], [...rows(({ folders }) => folders), ...rows(total)]))
console.log(`\n${render(["set", ...columns], rows(({ sets }) => sets))}`)
