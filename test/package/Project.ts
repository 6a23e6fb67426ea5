/**
 * An empty project with the packed package installed, as a user has it.
 *
 * @module
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { node, root, tool } from "../scripts/Host.ts"
import type { Ended } from "../scripts/Process.ts"
import { run } from "../scripts/Process.ts"
import * as Tree from "../scripts/Tree.ts"

/** A project in a temporary folder. */
export interface Project {
  readonly folder: string
  /** The files of the package, relative to its folder. */
  readonly packed: ReadonlyArray<string>
  readonly write: (file: string, text: string) => Promise<void>
  readonly read: (file: string) => Promise<string>
  /** Runs Node in the project. */
  readonly node: (...args: ReadonlyArray<string>) => Promise<Ended>
  /** Runs the command, which must succeed, and returns its output. */
  readonly command: (...args: ReadonlyArray<string>) => Promise<string>
  /** The same in a project in this folder. */
  readonly commandIn: (project: string, ...args: ReadonlyArray<string>) => Promise<string>
  /** The packages that are installed with this one, and ask for a newer version of Node than a major one. */
  readonly engines: (major: number) => Promise<ReadonlyArray<string>>
  /** Installs a package of this project, such as a peer. */
  readonly link: (name: string) => Promise<void>
  /** Type-checks the project. */
  readonly types: (...files: ReadonlyArray<string>) => Promise<Ended>
  /** Type-checks a project in this folder by its own configuration. */
  readonly typesOf: (project: string) => Promise<Ended>
  /** Removes a file. */
  readonly remove: (file: string) => Promise<void>
  /** Removes the project. */
  readonly end: () => Promise<void>
}

const succeeded = async (line: readonly [string, ...Array<string>], cwd: string): Promise<string> => {
  const { code, output } = await run(line, { cwd })
  if (code !== 0) throw new Error(`"${line.join(" ")}" ended with ${code}: ${output}`)
  return output
}

/** The command in a project. */
export const COMMAND = "node_modules/systole/dist/command/systole.js"

/** The used fields of a package. */
interface Package {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

/** The packages of a closure by their names, as they are installed here. */
const closure = async (file: string): Promise<ReadonlyMap<string, Package>> => {
  const found = new Map<string, Package>()
  const open = [["systole", file]]
  for (let [name = "", path = ""] = open.pop() ?? []; name !== ""; [name = "", path = ""] = open.pop() ?? []) {
    if (found.has(name)) continue
    const text = JSON.parse(await readFile(path, "utf8")) as Package
    found.set(name, text)
    const needed = Object.keys({ ...text.dependencies, ...text.peerDependencies })
    open.push(...needed.map((name) => [name, join(root, "node_modules", name, "package.json")]))
  }
  return found
}

/** The newest version of Node that a package asks for. */
const leastOf = ({ engines }: Package): number =>
  Math.min(...(engines?.node ?? "0").split("||").map((range) => Number(/(\d+)/.exec(range)?.[1] ?? 0)))

/** Packs the package as it is built anew, in a copy of the project: the command in its `dist` is in use. */
const packAnew = async (folder: string): Promise<void> => {
  const tree = await Tree.copy("systole-package-")
  try {
    await succeeded(["npm", "pack", "--pack-destination", folder], tree)
  } finally {
    await rm(tree, { recursive: true })
  }
}

/** Packs the package and installs it with the local dependencies; `built` packs the existing `dist`. */
export const create = async ({ built = false }: { readonly built?: boolean } = {}): Promise<Project> => {
  const folder = await mkdtemp(join(tmpdir(), "systole-project-"))
  const modules = join(folder, "node_modules")
  await mkdir(modules)
  if (built) await succeeded(["npm", "pack", "--ignore-scripts", "--pack-destination", folder], root)
  else await packAnew(folder)
  const [archive] = (await readdir(folder)).filter((file) => file.endsWith(".tgz"))
  await succeeded(["tar", "-xzf", archive!], folder)
  const home = join(modules, "systole")
  await cp(join(folder, "package"), home, { recursive: true })
  await rm(join(folder, "package"), { recursive: true })
  const { dependencies } =
    JSON.parse(await readFile(join(home, "package.json"), "utf8")) as { readonly dependencies: Readonly<Record<string, string>> }
  const link = async (name: string): Promise<void> => {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(root, "node_modules", name), join(modules, name))
  }
  for (const name of Object.keys(dependencies)) await link(name)
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  await write("package.json", "{ \"type\": \"module\", \"private\": true }\n")
  return {
    folder,
    packed: (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map(
      (entry) => join(entry.parentPath, entry.name).slice(home.length + 1)
    ),
    write,
    read: (file) => readFile(join(folder, file), "utf8"),
    command: (...args) => succeeded([node(), COMMAND, ...args], folder),
    commandIn: (project, ...args) => succeeded([node(), join(folder, COMMAND), ...args], join(folder, project)),
    engines: async (major) =>
      [...await closure(join(home, "package.json"))].filter(([, text]) => leastOf(text) > major).map(([name]) => name),
    link,
    node: (...args) => run([node(), ...args], { cwd: folder }),
    types: (...files) => run(
      [tool("tsc"), "--noEmit", "--strict", "--target", "es2024", "--module", "nodenext", "--skipLibCheck", "--types", "", ...files],
      { cwd: folder }
    ),
    typesOf: (project) => run([tool("tsc"), "--project", project, "--typeRoots", join(root, "node_modules", "@types")], { cwd: folder }),
    remove: (file) => rm(join(folder, file)),
    end: () => rm(folder, { recursive: true })
  }
}
