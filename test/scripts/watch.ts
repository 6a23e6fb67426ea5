/**
 * `npm run bench -- watch COMMIT`: measures the figures that matter on this tree and on that of a commit, in
 * alternation, and says which differ beyond their spread.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { load, type Server, start } from "../bench/Contender.ts"
import * as Watch from "../bench/Watch.ts"
import { node, root } from "./Host.ts"
import { run } from "./Process.ts"

/** The samples of each figure on each tree. A figure differs only if none of them lies among the other's. */
const SAMPLES = 5

/** The durations of one load on a server and of the load before the first, in milliseconds. */
const MEASURED = 3000
const WARM = 4000

/** A tree of the project and the samples taken on it. */
interface Tree {
  readonly folder: string
  readonly samples: Array<Watch.Sample>
}

const succeed = async (command: readonly [string, ...Array<string>], cwd = root): Promise<string> => {
  const { code, output } = await run(command, { cwd })
  if (code !== 0) throw new Error(`"${command.join(" ")}" ended with ${code}: ${output.slice(-2000)}`)
  return output
}

/** The command line of a file of this tree or another one, with the sources of that tree. */
const inTree = ({ folder }: Tree, file: string): readonly [string, ...Array<string>] =>
  [node(), "--import", join(folder, "test/scripts/source.mjs"), file]

/** The trees in the order of a sample: each is first in turn. */
const turns = (trees: readonly [Tree, Tree], sample: number): ReadonlyArray<Tree> => sample % 2 === 0 ? trees : [trees[1], trees[0]]

const benches = async (trees: readonly [Tree, Tree]): Promise<void> => {
  for (const bench of new Set(Watch.watched.map(({ bench }) => bench))) {
    for (let sample = 0; sample < SAMPLES; sample++) {
      for (const tree of turns(trees, sample)) {
        process.stderr.write(`watch: ${bench} in ${tree.folder}\n`)
        const output = await succeed([...inTree(tree, join(root, "test/bench/WatchProcess.ts")), tree.folder, bench])
        const lines = output.split("\n").filter((line) => line.startsWith("{\"name\""))
        tree.samples.push(...lines.map((line) => JSON.parse(line) as Watch.Sample))
      }
    }
  }
}

const serve = (tree: Tree, data: string): Promise<Server> =>
  start((port) => {
    const [file, ...args] = inTree(tree, join(tree.folder, "test/bench/server.ts"))
    return [file, ...args, String(port), data]
  })

const rate = async ({ url }: Server, { concurrency, path }: Watch.Loaded, ms: number): Promise<number> => {
  const [row] = await load(`${url}${path}`, { warm: "0", ms: String(ms), concurrency: String(concurrency), header: "Prefer: wait=10" })
  if (row === undefined || row["errors"] !== 0) throw new Error(`${url} answered with errors under load`)
  return row["perSecond"]!
}

/** Both servers live side by side, and one of them is under load. Their files lie in memory: the processor is measured. */
const servers = async (trees: readonly [Tree, Tree]): Promise<void> => {
  const data = mkdtempSync("/dev/shm/systole-watch-")
  try {
    for (const [place, figure] of Watch.loaded.entries()) {
      const started: Array<readonly [Tree, Server]> = []
      try {
        for (const [i, tree] of trees.entries()) started.push([tree, await serve(tree, join(data, `${place}-${i}`))])
        for (const [, server] of started) await rate(server, figure, WARM)
        for (let sample = 0; sample < SAMPLES; sample++) {
          process.stderr.write(`watch: ${figure.name}\n`)
          for (const tree of turns(trees, sample)) {
            const server = started.find(([of]) => of === tree)![1]
            tree.samples.push({ name: figure.name, value: await rate(server, figure, MEASURED) })
          }
        }
      } finally {
        for (const [, server] of started) await server.stop()
      }
    }
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

/** A tree of the commit beside this one, with the dependencies of its lock file. */
const checkOut = async (commit: string, folder: string): Promise<void> => {
  await succeed(["git", "worktree", "add", "--detach", folder, commit])
  const lock = (tree: string) => readFileSync(join(tree, "package-lock.json"), "utf8")
  if (lock(folder) === lock(root)) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  else await succeed(["npm", "ci"], folder)
}

/**
 * Compares this tree with that of a commit. Returns the table, or `undefined` if there is no such commit.
 */
export const watch = async (revision: string): Promise<string | undefined> => {
  const { code, output } = await run(["git", "rev-parse", "--verify", "--quiet", `${revision}^{commit}`])
  if (code !== 0) return undefined
  const folder = join(mkdtempSync(join(tmpdir(), "systole-watch-")), "before")
  try {
    await checkOut(output.trim(), folder)
    const trees: readonly [Tree, Tree] = [{ folder, samples: [] }, { folder: root, samples: [] }]
    await benches(trees)
    await servers(trees)
    return Watch.table(Watch.compare(trees[0].samples, trees[1].samples))
  } finally {
    await run(["git", "worktree", "remove", "--force", folder])
    rmSync(join(folder, ".."), { recursive: true, force: true })
  }
}
