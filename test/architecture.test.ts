import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { floors, kernel, rooms } from "./Floors.ts"

/** The rooms that a page lists: those with a name. */
const namesOf = (levels: ReadonlyArray<ReadonlyArray<string>>): Array<string> => levels.flat().filter((room) => room !== "")

/** The files of the kernel that may name a ledger: clients of operations, and in the last three the composition and its types. */
const NAMING = new Set([
  "model/Command", "beat/command/RollbackPlan", "beat/command/Lifecycle", "beat/step/DiagnosticsCommit", "beat/step/LabelCheck",
  "beat/step/Run", "view/Requests", "api/Slice", "space/Kernel"
].map((file) => `kernel/${file}.ts`))

const LEDGER = /^(?:operation|rendezvous|flow|reactor)\//

/** The highest room that a replay may use. */
const REPLAYED = kernel.findIndex((room) => room.includes("runs"))

/** The highest floor that is bundled for every host. */
const PORTABLE = 6

/** The maximum number of files of a folder of `src`, without those of its rooms. */
const MAX_FILES = 30

/** The maximum number of lines of a file, comments included. */
const MAX_LINES = 400

const root = join(import.meta.dirname, "..")
const src = join(root, "src")

const filesBelow = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.split("/").some((part) => part === "node_modules" || part.startsWith(".")))
      .map((file) => join(folder, file))
    : []

const textOf = (file: string): string => readFileSync(file, "utf8")

/** Matches strings, templates and comments as wholes, so that a comment sign in a string is no comment. */
const lexeme = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/.*$/gm

/** A file without its comments. */
const codeOf = (file: string): string => textOf(file).replace(lexeme, (found) => found.startsWith("/") ? "" : found)

const IMPORT = /\bfrom\s+"([^"]+)"|\bimport\s*\(?\s*"([^"]+)"/g

/** The specifiers of a file's imports and re-exports, static and dynamic. Comments and templates do not count. */
const importsOf = (file: string): ReadonlyArray<string> => {
  const code = codeOf(file).replace(lexeme, (found) => found.startsWith("`") ? "``" : found)
  return [...code.matchAll(IMPORT)].map((match) => match[1] ?? match[2]!)
}

/** The specifiers of a file's imports without those of types alone, which leave nothing in the code. */
const valuesImportedBy = (file: string): ReadonlyArray<string> => {
  const types = [...codeOf(file).matchAll(/\b(?:im|ex)port type\b[^"]*"([^"]+)"/g)].map(([, name]) => name)
  return importsOf(file).filter((name) => !types.includes(name))
}

/** The files of the project that a file imports. */
const filesImportedBy = (file: string): ReadonlyArray<string> =>
  importsOf(file).filter((specifier) => specifier.startsWith(".")).map((specifier) => join(dirname(file), specifier))

const folderOf = (file: string): string => {
  const inside = relative(src, file)
  return inside.includes("/") ? inside.split("/")[0]! : ""
}

const floorOf = (file: string): number => floors.findIndex((floor) => floor.includes(folderOf(file)))

/** The folder with rooms that holds a file. */
const roomedOf = (file: string): string | undefined => Object.keys(rooms).find((folder) => file.startsWith(`${join(root, folder)}/`))

/** The room of a file; "" for a file beside the rooms of its folder. */
const roomOf = (file: string): string => {
  const folder = dirname(relative(join(root, roomedOf(file) ?? ""), file))
  return folder === "." ? "" : folder
}

/** The level of the room of a file: -1 for a file beside the rooms, above which none stands. */
const levelOf = (file: string): number => rooms[roomedOf(file) ?? ""]?.findIndex((level) => level.includes(roomOf(file))) ?? -1

/** Whether one file of a folder with rooms may import another one of it. */
const isDown = (from: string, to: string): boolean =>
  roomOf(from) === roomOf(to) || levelOf(to) >= 0 && (levelOf(from) < 0 || levelOf(to) < levelOf(from))

/** Whether one file of `src` may import another. `index.ts` stands above all and below nothing. */
const isAllowed = (from: string, to: string): boolean => {
  if (folderOf(to) === "") return false
  if (folderOf(from) === folderOf(to)) return roomedOf(from) === undefined || isDown(from, to)
  if (folderOf(from) === "") return true
  if (folderOf(from) === "replay" && folderOf(to) === "kernel" && levelOf(to) > REPLAYED) return false
  return floorOf(to) < floorOf(from)
}

const sources = filesBelow(src)
const modules = ["plugins", "enzymes", "examples"].flatMap((folder) => filesBelow(join(root, folder)))

/** Modules that only some hosts have. */
const HOST_MODULE = /^(node|bun|deno|cloudflare):/

/** Packages that run on some hosts only. */
const HOST_PACKAGE = /^@effect\/platform-|^@hono\/|^esbuild/

/** Sources of time and chance that a replay could not repeat. */
const AMBIENT = /\bnew Date\(\s*\)|\bDate\.now\b|\bMath\.random\b|\bperformance\./g

/** A run of an Effect without the context of a runtime: its logs and spans are lost, and no scope ends it. */
const DETACHED = /\bEffect\.run(?:Fork|Promise|PromiseExit|Callback|Sync|SyncExit)\b/g

/** The edges, where no runtime is open yet, or a program without Effect begins. All else runs with the context of a runtime. */
const EDGES = new Set([
  "main/Embed.ts", "main/testing/TestSpace.ts", "main/testing/contract/PersistenceContract.ts", "main/workers/Settings.ts",
  "main/workers/SpaceHost.ts"
])

/** The time and chance of a client, which lives in a page or a program without a runtime. */
const PLATFORM = "client/Platform.ts"

/** A rule, which lists the breaches of a file. */
interface Rule {
  readonly rule: string
  readonly breaches: (file: string) => ReadonlyArray<string>
  /** Whether it holds for plugins and enzymes, too. */
  readonly isOfModules?: boolean
}

/** The rules for every file of `src`. */
const rules: ReadonlyArray<Rule> = [
  {
    rule: "imports only downward",
    breaches: (file) => filesImportedBy(file).filter((imported) => !isAllowed(file, imported)).map((imported) => relative(src, imported))
  },
  {
    rule: "names no ledger where a beat drives them all, and lists no exception that is over",
    breaches: (file) => {
      if (folderOf(file) !== "kernel" || roomOf(file) === "runs") return []
      const named = filesImportedBy(file).map((to) => relative(src, to)).filter((path) => LEDGER.test(path))
      return NAMING.has(relative(src, file)) ? named.length > 0 ? [] : ["it names none"] : named
    }
  },
  {
    rule: "imports files that are there, by their full name",
    isOfModules: true,
    breaches: (file) => filesImportedBy(file).filter((imported) => !existsSync(imported)).map((imported) => relative(src, imported))
  },
  {
    rule: "imports effect by module, and the runtime by path",
    breaches: (file) => importsOf(file).filter((specifier) => specifier === "effect" || /^systole(\/|$)/.test(specifier))
  },
  {
    rule: "imports nothing of one host unless it is in main",
    breaches: (file) => folderOf(file) === "main" ? [] : importsOf(file).filter((specifier) => HOST_MODULE.test(specifier))
  },
  {
    rule: "takes no host's library into what every host runs",
    breaches: (file) => floorOf(file) > PORTABLE ? [] : importsOf(file).filter((specifier) => HOST_PACKAGE.test(specifier))
  },
  {
    rule: "takes time and chance from services",
    breaches: (file) => folderOf(file) === "main" || relative(src, file) === PLATFORM ? [] : codeOf(file).match(AMBIENT) ?? []
  },
  {
    rule: "runs Effects with the context of the runtime",
    breaches: (file) => (codeOf(file).match(DETACHED) !== null) === EDGES.has(relative(src, file)) ? [] : ["an Effect without a context"]
  },
  {
    rule: "says on top what it is for",
    isOfModules: true,
    breaches: (file) => /^(#!.*\n)?\/\*\*\n \* [^@\n][\s\S]*?\n \* @module\n \*\/\n/.test(textOf(file)) ? [] : ["no header with @module"]
  },
  {
    rule: "stays short",
    isOfModules: true,
    breaches: (file) => {
      const lines = textOf(file).trimEnd().split("\n").length
      return lines <= MAX_LINES ? [] : [`${lines} lines`]
    }
  }
]

describe("architecture", () => {
  it("knows every folder of src", () => {
    assert.isAbove(sources.length, 10)
    const known = floors.flat()
    const folders = readdirSync(src).filter((entry) => statSync(join(src, entry)).isDirectory())
    assert.deepStrictEqual(folders.filter((folder) => !known.includes(folder)), [])
    const loose = readdirSync(src).filter((entry) => entry.endsWith(".ts"))
    assert.deepStrictEqual(loose, ["index.ts"])
  })

  it("stands on the pages as it is: floors in src, rooms in its folders", () => {
    const rowsOf = (page: string, row: RegExp) => [...textOf(join(src, page)).matchAll(row)].map(([, cell = ""]) => cell)
    const shown = rowsOf("README.md", /^\| \d+ \| (.+?) \|/gm).map((cell) => cell.replaceAll(/\]\([^)]*\)|\[/g, "").split(", "))
    const there = floors.map((floor) => floor.filter((folder) => existsSync(join(src, folder)))).toReversed()
    assert.deepStrictEqual(shown.map((floor) => floor.toSorted()), there.map((floor) => floor.toSorted()))
    for (const [folder, levels] of Object.entries(rooms)) {
      assert.sameMembers(rowsOf(`../${folder}/README.md`, /^\| `([\w/]+)\/` \|/gm), namesOf(levels))
    }
  })

  it("tells an import that goes down from one that goes up or sideways", () => {
    const at = (path: string) => join(src, path)
    assert.isTrue(isAllowed(at("kernel/beat/A.ts"), at("cell/B.ts")))
    assert.isFalse(isAllowed(at("cell/A.ts"), at("kernel/beat/B.ts")))
    assert.isFalse(isAllowed(at("stage/A.ts"), at("diagnostic/B.ts")))
    assert.isFalse(isAllowed(at("main/A.ts"), at("index.ts")))
    assert.isTrue(isAllowed(at("index.ts"), at("kernel/space/A.ts")))
  })

  it("knows every room of a folder, and every file is in one", () => {
    for (const [folder, levels] of Object.entries(rooms)) {
      const files = [...sources, ...modules].filter((file) => roomedOf(file) === folder)
      assert.deepStrictEqual([...new Set(files.map(roomOf))].sort(), [...folder === "src/kernel" ? [] : [""], ...namesOf(levels)].sort())
    }
  })

  it("has at most 30 files in a folder", () => {
    const folders = [...Map.groupBy(sources, dirname)]
    assert.isAbove(folders.length, 40)
    assert.deepStrictEqual(folders.filter(([, files]) => files.length > MAX_FILES).map(([folder]) => relative(src, folder)), [])
  })

  it("tells an import between rooms that goes down from one that goes up or sideways", () => {
    const at = (path: string) => join(src, "kernel", path)
    assert.isTrue(isAllowed(at("beat/A.ts"), at("model/B.ts")))
    assert.isTrue(isAllowed(at("beat/A.ts"), at("beat/B.ts")))
    assert.isFalse(isAllowed(at("inbox/A.ts"), at("derived/B.ts")))
    assert.isFalse(isAllowed(at("model/A.ts"), at("space/B.ts")))
    assert.isTrue(isAllowed(join(src, "replay/A.ts"), at("beat/B.ts")))
    assert.isFalse(isAllowed(join(src, "replay/A.ts"), at("view/B.ts")))
  })

  it("gives a page that imports the client nothing else of the runtime", () => {
    const files = sources.filter((file) => folderOf(file) === "client")
    const imported = files.flatMap((file) => valuesImportedBy(file).map((other) => `${relative(src, file)}: ${other}`))
    assert.deepStrictEqual(imported.filter((found) => !/: \.\/\w+\.ts$/.test(found)), [])
    const typed = files.flatMap(filesImportedBy).map((file) => relative(src, file))
    assert.deepStrictEqual(typed.filter((file) => !/^(?:client|cell|contract)\/|\/Face\.ts$/.test(file)), [])
  })

  it("gives a page with the hooks React and the client beside them", () => {
    const files = sources.filter((file) => folderOf(file) === "react")
    const imported = files.flatMap((file) => valuesImportedBy(file).map((other) => `${relative(src, file)}: ${other}`))
    assert.isAbove(files.length, 0)
    assert.deepStrictEqual(imported.filter((found) => !/: (?:react|\.\/\w+\.ts|\.\.\/client\/RequestFailed\.ts)$/.test(found)), [])
  })

  it("reaches every file of src from its index or from main", () => {
    const entries = new Set([...["cell", "client", "cli", "contract", "react", "time"].map((name) => `${name}/index.ts`), "cell/Page.ts"])
    const roots = sources.filter((file) => ["", "main"].includes(folderOf(file)) || entries.has(relative(src, file)))
    const reached = new Set<string>()
    const visit = (file: string): void => {
      if (reached.has(file)) return
      reached.add(file)
      filesImportedBy(file).forEach(visit)
    }
    roots.forEach(visit)
    assert.deepStrictEqual(sources.filter((file) => !reached.has(file)).map((file) => relative(src, file)), [])
  })

  it.each(rules)("$rule, in each file of src", ({ breaches }) => {
    const found = sources.flatMap((file) => breaches(file).map((breach) => `${relative(src, file)}: ${breach}`))
    assert.deepStrictEqual(found, [])
  })

  it("has no import cycle, not even by types", () => {
    const over = new Set<string>()
    const circles: Array<string> = []
    const walk = (file: string, way: ReadonlyArray<string>): void => {
      const at = way.indexOf(file)
      if (at >= 0) circles.push([...way.slice(at), file].map((each) => relative(src, each)).join(" -> "))
      if (at >= 0 || over.has(file)) return
      for (const other of filesImportedBy(file)) walk(other, [...way, file])
      over.add(file)
    }
    for (const file of sources) walk(file, [])
    assert.deepStrictEqual(circles, [])
  })

  it("loads no Effect with the Worker in front, which begins before a request is let in", () => {
    const seen = new Set<string>()
    const walk = (file: string, way: string): ReadonlyArray<string> => {
      if (seen.has(file)) return []
      seen.add(file)
      const given = [...codeOf(file).matchAll(/\bfrom\s+"([^"]+)"/g)].map(([, name]) => name)
      return valuesImportedBy(file).filter((name) => given.includes(name)).flatMap((name) => {
        if (name.startsWith(".")) return walk(join(dirname(file), name), `${way} -> ${name}`)
        return name.startsWith("effect/") ? [`${way} -> ${name}`] : []
      })
    }
    assert.deepStrictEqual(["Gate", "Objects"].flatMap((name) => walk(join(src, "main/workers", `${name}.ts`), name)), [])
    assert.isAbove(seen.size, 20)
  })

  it("tells Deno where the runtime's names lie", () => {
    const { imports } = JSON.parse(textOf(join(root, "deno.json"))) as { readonly imports: Readonly<Record<string, string>> }
    const plugins = readdirSync(join(root, "plugins")).filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -3))
    const expected = plugins.map((name): [string, string] => [`systole/plugins/${name}`, `./plugins/${name}.ts`])
    const own = [
      ["systole", "./src/index.ts"],
      ["systole/cells", "./src/cell/index.ts"],
      ["systole/cli", "./src/cli/index.ts"],
      ["systole/client", "./src/client/index.ts"],
      ["systole/contract", "./src/contract/index.ts"],
      ["systole/embed", "./src/main/Embed.ts"],
      ["systole/guards", "./src/main/guard/RunGuards.ts"],
      ["systole/react", "./src/react/index.ts"],
      ["systole/rich", "./src/cell/RichJson.ts"],
      ["systole/testing", "./src/main/testing/index.ts"],
      ["systole/time", "./src/time/index.ts"],
      ["systole/plugins/agent/commands", "./plugins/agent/commands.ts"],
      ["systole/workers", "./src/main/workers/index.ts"]
    ] as const
    assert.deepStrictEqual(imports, Object.fromEntries([...own, ...expected]))
  })

  it("lets plugins, enzymes and examples import the runtime by its name alone", () => {
    const closed = /(?:^|\/)src\/|^systole\/(?!plugins\/|(?:cells|cli|client|testing|time)$)/
    const inside = modules.flatMap((file) => importsOf(file).filter((it) => closed.test(it)).map((name) => [relative(root, file), name]))
    assert.deepStrictEqual(inside, [])
  })

  it("builds the agent on what is public, room above room", () => {
    const files = modules.filter((file) => roomedOf(file) === "plugins/agent")
    const known = /^(?:effect\/|yaml$|systole(?:\/(?:cli|client|time))?$)/
    const breaches = files.flatMap((file) => [
      ...importsOf(file).filter((name) => !name.startsWith(".") && !known.test(name)),
      ...filesImportedBy(file).filter((other) => roomedOf(other) !== "plugins/agent" || !isDown(file, other))
    ].map((breach) => `${relative(root, file)}: ${breach}`))
    assert.isAbove(files.length, 60)
    assert.deepStrictEqual(breaches, [])
    const at = (path: string) => join(root, "plugins/agent", path)
    assert.isFalse(isDown(at("text/A.ts"), at("wake/B.ts")))
    assert.isFalse(isDown(at("types/A.ts"), at("commands/B.ts")))
    assert.isTrue(isDown(at("commands.ts"), at("commands/B.ts")))
    assert.isFalse(isDown(at("commands/A.ts"), at("commands.ts")))
  })

  it("gives the enzymes of the agent no value of the command line, which a Worker has not", () => {
    const seen = new Set<string>()
    const walk = (file: string): ReadonlyArray<string> => {
      if (seen.has(file)) return []
      seen.add(file)
      return valuesImportedBy(file).flatMap((name) => {
        if (name.startsWith(".")) return walk(join(dirname(file), name))
        return name === "systole/cli" ? [relative(root, file)] : []
      })
    }
    assert.deepStrictEqual(walk(join(root, "plugins/agent.ts")), [])
    assert.isAbove(seen.size, 40)
  })

  it.each(rules.filter(({ isOfModules }) => isOfModules))("$rule, in each plugin and enzyme", ({ breaches }) => {
    const found = modules.filter((file) => !relative(root, file).startsWith("examples/")).flatMap((file) =>
      breaches(file).map((breach) => `${relative(root, file)}: ${breach}`))
    assert.deepStrictEqual(found, [])
  })

  it("lets tests alone import what tests need", () => {
    const inside = modules.filter((file) => !file.includes("/test/")).filter((file) => importsOf(file).includes("systole/testing"))
    assert.deepStrictEqual(inside.map((file) => relative(root, file)), [])
  })
})

const millis = (digits: string | undefined): number => Number(digits?.replaceAll("_", "") ?? Infinity)

/** The time-out that a line gives to a test, as an option or as the last argument; infinite for other lines. */
const timeOut = (line: string): number =>
  millis((/\bit[.\w]*\(.*\btimeout: ([\d_]+)/.exec(line) ?? /^ *(?:\}.*|it[.\w]*\(.*), (\d+_000)\)$/.exec(line))?.[1])

/** The ports that the simulator takes beside the package: the ways in and out of a kernel. */
const ports = new Set([
  "archive/Export", "archive/Imports", "ingress/App", "kernel/model/ModuleRestore", "kernel/model/Signal", "kernel/live/Delivery"
].map((file) => `../../src/${file}.ts`))

describe("The tests", () => {
  it("simulate worlds over the package and its ports alone, so that they outlive a change of what is inside", () => {
    const folder = join(root, "test/simulation")
    const inside = readdirSync(folder).filter((file) => file.endsWith(".ts")).flatMap((file) =>
      importsOf(join(folder, file)).filter((specifier) => /(^|\/)src\//.test(specifier) && !ports.has(specifier))
        .map((specifier) => ({ file, specifier })))
    assert.deepStrictEqual(inside, [])
  })

  it("have at least the common time-out, which a hang alone exceeds", () => {
    const read = (file: string): string => readFileSync(join(root, file), "utf8")
    const files = ["test", "examples"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
    const tests = files.filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
    const common = millis(/testTimeout: ([\d_]+)/.exec(read("test/vitest.config.ts"))?.[1])
    assert.isAtLeast(common, 120_000)
    assert.isAbove(tests.length, 300)
    const short = tests.flatMap((file) =>
      read(file).split("\n").filter((line) => timeOut(line) < common).map((line) => `${file}: ${line.trim()}`))
    assert.deepStrictEqual(short, [])
  })
})
