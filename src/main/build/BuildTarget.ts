/**
 * The platforms of builds: their entries, their options for the bundler, and the files beside the bundle.
 *
 * @module
 */
import type * as Esbuild from "esbuild"
import type * as Host from "../../cli/Host.ts"
import type * as Config from "../../loader/Config.ts"
import * as Outside from "../../loader/Outside.ts"
import * as Secrets from "../../loader/Secrets.ts"
import * as Webhook from "../../loader/Webhook.ts"
import type { SliceName } from "../../ledger/SliceTable.ts"
import type { Contents } from "./BuildContents.ts"
import * as BuildFolder from "./BuildFolder.ts"
import * as BuildPages from "./BuildPages.ts"
import * as BuildReadme from "./BuildReadme.ts"
import * as Installation from "../module/Installation.ts"

/** A platform. */
export interface Target {
  readonly name: Host.Target
  /** The generated modules, by name. */
  readonly modules: Readonly<Record<string, string>>
  /** The entries, by the names of their files: a generated module, or a file. */
  readonly entries: Readonly<Record<string, string>>
  readonly options: Esbuild.BuildOptions
  /** Whether modules may import modules of the host. */
  readonly hasHostModules: boolean
  /** Whether it has the command line. Only that has use for the words of endpoints and faces. */
  readonly hasCommands: boolean
  /** Whether the platform stores spaces itself, so that the configured persistence has no effect. */
  readonly hasStorage: boolean
  /** A file of a project with this name, which the user may change. */
  readonly kept: ((project: string, settings: Pick<Config.Settings, "content">) => BuildFolder.UserFile) | undefined
  /** The lines that start the build. */
  readonly usage: ReadonlyArray<string>
}

const runtime = (path: string): string => JSON.stringify(Installation.runtimeFile(path))

/** The module of a slice. */
const sliceFile = (name: SliceName): string => runtime(`main/slice/${name}.ts`)

/** Installs the guards of runs before the modules of the project are evaluated, so that none keeps an unguarded function. */
const guarded = (guards: "GlobalGuards" | "RunGuards"): string => `(await import(${runtime(`main/guard/${guards}.ts`)})).install()`

/** Refuses an old host before it loads modules that it lacks. */
const start = `import process from "node:process"
import { refusal } from ${runtime("main/host/HostVersion.ts")}
const refused = refusal(process.versions)
if (refused !== undefined) {
  console.error(refused)
  process.exit(2)
}
${guarded("RunGuards")}
await import("systole-build:main")
`

/** Runs the command line of the build. */
const main = (host: string): string => `import process from "node:process"
import { built } from "systole-build:built"
import { program } from ${runtime("main/BuiltProgram.ts")}
import { run } from ${runtime("main/Main.ts")}
import { platform } from ${runtime(`main/${host}.ts`)}
run(platform, program(built, process.argv.slice(2)))
`

/** Serves the project of the build for `deno serve`. */
const serve = `import process from "node:process"
${guarded("RunGuards")}
const { built } = await import("systole-build:built")
const { start } = await import(${runtime("main/DenoServe.ts")})
export default start(built, process.argv.slice(2))
`

/** Defines the function with which packages in CommonJS require modules of the host. */
const banner = `import { createRequire as systoleRequire } from "node:module"
const require = systoleRequire(import.meta.url)`

/** A platform with files and threads. */
const server = (name: "node" | "deno" | "bun", usage: ReadonlyArray<string>): Target => ({
  name,
  modules: { start, main: main(name) },
  entries: { systole: "systole-build:start", WatchdogThread: Installation.runtimeFile("main/watchdog/WatchdogThread.ts") },
  options: { platform: "node", banner: { js: banner } },
  hasHostModules: true,
  hasCommands: true,
  hasStorage: false,
  kept: undefined,
  usage
})

/** A platform with an entry that exports the handler of its server. */
const withServe = (target: Target): Target =>
  ({ ...target, modules: { ...target.modules, serve }, entries: { ...target.entries, serve: "systole-build:serve" } })

/** The lines of a Wrangler configuration that a build needs. The names of classes and migrations are forever. */
const wranglerNeeds: ReadonlyArray<BuildFolder.Need> = [
  { line: "\"main\": \"worker.js\"" },
  { line: "\"no_bundle\": true" },
  { line: "\"rules\": [{ \"type\": \"ESModule\", \"globs\": [\"*.js\"] }]" },
  // The guards of runs follow a run over its awaits.
  { line: "\"compatibility_flags\": [\"nodejs_als\"]", texts: ["\"nodejs_als\"", "\"nodejs_compat\""] },
  {
    line: `"durable_objects": { "bindings": [
    { "name": "SPACES", "class_name": "Space" },
    { "name": "DIRECTORY", "class_name": "Directory" }
  ] }`
  },
  // The Worker decides who reads them. The name is none that a project has for files of its own.
  { line: `"assets": { "directory": "${BuildFolder.ASSETS}", "binding": "REFERENCE", "run_worker_first": true }` },
  { line: "\"migrations\": [{ \"tag\": \"v1\", \"new_sqlite_classes\": [\"Space\", \"Directory\"] }]" }
]

/** The newest date with whose behaviour the build is tested. */
const COMPATIBILITY_DATE = "2026-08-03"

/** The bucket of the content store, if it is a binding. */
const bucketNeeds = (name: string, { content }: Pick<Config.Settings, "content">): ReadonlyArray<BuildFolder.Need> => {
  const binding = content?.options["binding"]
  if (typeof binding !== "string") return []
  return [{ line: `"r2_buckets": [{ "binding": ${JSON.stringify(binding)}, "bucket_name": "${name}-content" }]` }]
}

/** The name of the Worker of a project, which leaves room for the ending of its bucket's name. */
const nameOf = (project: string): string =>
  project.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").slice(0, 55).replaceAll(/^-|-$/g, "") || "worker"

/** The configuration of Wrangler for a project. */
const wrangler = (project: string, settings: Pick<Config.Settings, "content">): BuildFolder.UserFile => {
  const name = nameOf(project)
  const needs = [...wranglerNeeds, ...bucketNeeds(name, settings)]
  const lines = [
    `"name": ${JSON.stringify(name)}`,
    `"compatibility_date": "${COMPATIBILITY_DATE}"`,
    "\"limits\": { \"cpu_ms\": 30000 }",
    ...needs.map(({ line }) => line)
  ]
  return { file: "wrangler.jsonc", contents: `{\n  ${lines.join(",\n  ")}\n}\n`, needs }
}

/** The entry of a Worker, with the classes of its objects. */
const worker = `import { outside } from "systole-build:outside"
import { ofBuild } from ${runtime("main/workers/Built.ts")}
const load = async () => {
  ${guarded("GlobalGuards")}
  return import("systole-build:inside")
}
const { Directory, Space, handler } = ofBuild(outside, load)
export { Directory, Space }
export default handler
`

/** The part of a Worker that an object loads: one chunk, because chunks of parts with common code are larger together. */
const inside = `export { built } from "systole-build:built"
export { ofBuild } from ${runtime("main/workers/Inside.ts")}
`

/** The platforms, by name. */
export const targets: Readonly<Record<Host.Target, Target>> = {
  node: server("node", ["node systole.js"]),
  deno: withServe(server("deno", ["deno run -A systole.js", "deno serve -A --host 127.0.0.1 --port 4200 serve.js"])),
  bun: server("bun", ["bun systole.js"]),
  workers: {
    name: "workers",
    modules: { worker, inside },
    entries: { worker: "systole-build:worker" },
    options: {
      platform: "neutral",
      conditions: ["workerd", "worker"],
      mainFields: ["module", "main"],
      // The smallest router. A Worker spends more time on loading one than on its routes.
      plugins: [{
        name: "systole-router",
        setup: (build) => build.onResolve({ filter: /^hono$/ }, ({ kind, resolveDir }) => build.resolve("hono/tiny", { kind, resolveDir }))
      }],
      external: ["cloudflare:workers", "node:async_hooks"],
      minify: true
    },
    hasHostModules: false,
    hasCommands: false,
    hasStorage: true,
    kept: wrangler,
    usage: ["npx wrangler dev", "npx wrangler secret put SYSTOLE_TOKEN", "npx wrangler deploy"]
  }
}

/**
 * The generated module of a build: its modules by literal imports, and its configuration as JSON.
 */
export const builtModule = ({ hasHostModules, hasStorage }: Target, contents: Contents): string => {
  const { commands, environment, kept, modules, pages, scripts, settings, slices, version } = contents
  const hasAgent = hasHostModules && Object.hasOwn(settings.parts, "agent")
  const called = [...hasAgent ? ["agent"] : [], ...commands.map((_, i) => `c${i}`)]
  // A server imports them with its runtime.
  const hasWebhooks = hasStorage && Object.keys(settings.ingress).length > 0
  const hashes = [...new Set([...modules, ...kept, ...pages === undefined ? [] : [pages]].map(({ hash }) => hash))]
  const names = new Map(hashes.map((hash, i) => [hash, `m${i}`]))
  const typed = new Map(modules.map(({ hash, typed }) =>
    [hash, typed.map((name, i) => ({ name: JSON.stringify(name), local: `${names.get(hash)}_${i}` }))]))
  const typesOf = (hash: string): string => typed.get(hash)?.map(({ local, name }) => `${name}: ${local}`).join(", ") ?? ""
  const entries = modules.map(({ file, hash, typed }) =>
    `    ${JSON.stringify(file)}: { module: ${names.get(hash)}, ${typed.length > 0 ? `typed: { ${typesOf(hash)} }, ` : ""}` +
    `hash: "${hash}" }`)
  const hasJwt = hasStorage && settings.access.jwt !== undefined
  const [shown, ingress, access] = (["pages", "ingress", "access"] as const).map((field) =>
    pages === undefined ? "{}" : fieldOf(field, names.get(pages.hash) ?? "", environment))
  // A Worker has them as files beside its script.
  const hasScripts = !hasStorage && Object.keys(scripts).length > 0
  const beside = hasStorage ? BuildPages.paths(contents) : {}
  const rendered = hasScripts ? `withTexts(${shown}, (file) => (${JSON.stringify(scripts)})[file])` : shown
  return [
    ...hasScripts ? [`import { withTexts } from ${runtime("loader/Page.ts")}`] : [],
    ...slices.map((name) => `import { slice as ${name} } from ${sliceFile(name)}`),
    ...hasAgent ? [`import agent from ${JSON.stringify(Installation.sourceFile("systole/plugins/agent/commands"))}`] : [],
    ...commands.map(({ hash }, i) => `import c${i} from "systole-module:${hash}"`),
    ...hasWebhooks ? [`import { make as webhooks } from ${runtime("ingress/Webhooks.ts")}`] : [],
    ...hasJwt ? [`import { make as jwt } from ${runtime("access/JwtVerifier.ts")}`] : [],
    ...hashes.map((hash) => `import ${[names.get(hash), ...named(typed.get(hash))].join(", ")} from "systole-module:${hash}"`),
    "export const built = {",
    `  version: ${JSON.stringify(version)},`,
    `  environment: ${JSON.stringify(environment)},`,
    `  hasToken: ${settings.token !== undefined},`,
    `  settings: { ...${JSON.stringify(withoutTokens(settings))}, pages: ${rendered}, ingress: ${ingress}, access: ${access} },`,
    `  slices: [${slices.join(", ")}],`,
    ...called.length > 0 ? [`  commands: [${called.join(", ")}],`] : [],
    ...hasWebhooks ? ["  webhooks,"] : [],
    ...hasJwt ? ["  jwt,"] : [],
    ...Object.keys(beside).length > 0 ? [`  scripts: ${JSON.stringify(beside)},`] : [],
    `  manifest: {\n${entries.join(",\n")}\n  },`,
    `  kept: { ${kept.map(({ hash }) => `"${hash}": ${names.get(hash)}`).join(", ")} }`,
    "}",
    ""
  ].join("\n")
}

/** The import of exports of a module by their names; none of no exports. */
const named = (exports: ReadonlyArray<{ readonly name: string; readonly local: string }> = []): ReadonlyArray<string> =>
  exports.length === 0 ? [] : [`{ ${exports.map(({ local, name }) => `${name} as ${local}`).join(", ")} }`]

/**
 * The generated module with the part of a build that the Worker in front needs.
 */
export const outsideModule = ({ settings }: Contents): string => {
  return `export const outside = ${JSON.stringify(Outside.of(settings))}\n`
}

/** A field of the configuration in an environment, as an expression over its module. */
const fieldOf = (field: "access" | "ingress" | "pages", module: string, environment: string | undefined): string => {
  const own = environment === undefined ? "" : `${module}.environments[${JSON.stringify(environment)}].${field} ?? `
  return `${own}${module}.${field} ?? {}`
}

const withoutTokens = ({ access: _, ingress: __, pages: ___, readers, token: ____, ...settings }: Config.Settings) =>
  ({ ...settings, readers: readers.map(({ atoms, name }) => ({ name, atoms })) })

/**
 * The place of the first value of the settings that JSON cannot hold, such as a function in the options of a channel.
 */
export const unplain = (settings: Config.Settings): string | undefined => unplainAt(withoutTokens(settings), "the configuration")

const unplainAt = (value: unknown, place: string): string | undefined => {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) {
    return undefined
  }
  if (typeof value !== "object" || !(Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)))) return place
  for (const [key, inside] of Object.entries(value)) {
    const found = unplainAt(inside, `${place}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The files that describe a build: its modules, its kind of JavaScript, and its use.
 */
export const describe = (target: Target, contents: Contents): ReadonlyArray<BuildFolder.Text> => {
  const { environment, kept, modules, settings, slices, version } = contents
  const variables = variablesOf(target, settings)
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
  const digests = Object.fromEntries(modules.map(({ file, hash }) => [file, hash]))
  const page = BuildReadme.make({ target: target.name, environment, usage: target.usage, variables }, settings)
  const build = { systole: version, target: target.name, environment, slices, modules: digests, kept: kept.map(({ hash }) => hash) }
  return [
    { file: "package.json", contents: json({ private: true, type: "module" }) },
    { file: "build.json", contents: json(build) },
    { file: "README.md", contents: page }
  ]
}

/**
 * The next steps after a build.
 */
export const notes = (target: Target, { settings }: Contents, out: string): ReadonlyArray<string> => {
  const variables = variablesOf(target, settings)
  return [
    ...variables.length === 0 ? [] : [`Set ${variables.join(", ")} where it runs: the build contains no token`],
    `Go on with: cd ${out} && ${target.usage[0]}`
  ]
}

/** The variables without which the build does not start. */
const variablesOf = ({ hasStorage }: Target, settings: Config.Settings): ReadonlyArray<string> => {
  const isOpen = !hasStorage && settings.token === undefined && settings.readers.length === 0 && Secrets.isLoopback(settings.host)
  return [...isOpen ? [] : Secrets.namesOf(settings), ...Object.values(settings.ingress).flatMap(Webhook.variablesOf)]
}
