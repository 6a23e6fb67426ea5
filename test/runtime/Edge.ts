/**
 * Workers with durable objects in workerd, for tests.
 *
 * @module
 */
import { Miniflare } from "miniflare"
import { assert } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { bundled, modulesOf } from "./Bundle.ts"

/** The last compatibility date at which Workers provide no Node modules by default. */
export const COMPATIBILITY_DATE = "2026-08-03"

/** The flag with which Workers are tested, and which a build sets. */
export const COMPATIBILITY_FLAG = "nodejs_als"

/** The secret token of the operator. */
export const TOKEN = "a-token-for-tests"

/** A running Worker. */
export interface Edge {
  /** Sends a request with the operator's token. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** Sends a signal and waits for its receipt, unless `prefer` says otherwise. */
  readonly signal: (space: string, signal: object, prefer?: string) => Promise<{ readonly status: number; readonly body: any }>
  readonly json: (path: string) => Promise<any>
  readonly miniflare: Miniflare
  /** Ends the process of the Worker and starts another one over the same storage. */
  readonly restart: () => Promise<void>
}

/** Options of a Worker. */
export interface Options {
  /** The folder that keeps the storage of the objects. Without it, they are kept in memory. */
  readonly folder?: string
  readonly bindings?: Readonly<Record<string, string>>
  /** The bindings of R2 buckets. */
  readonly r2Buckets?: ReadonlyArray<string>
  /** Lets everybody in, without a token. */
  readonly public?: true
  /** Receives what the process prints; the console unless given. */
  readonly printed?: (text: string) => void
  /** Its compatibility flags; {@link COMPATIBILITY_FLAG} unless given. */
  readonly flags?: ReadonlyArray<string>
}

/** Takes an object of a counted Worker out of memory, as the platform does with an idle one. Its sockets stay open. */
export const evict = async ({ json, miniflare }: Edge, space: string): Promise<void> => {
  const { number } = await json(`/test/seen/${space}`)
  await miniflare.unsafeEvictDurableObject("", "Space", { name: space, webSockets: "hibernate" })
  assert.isAbove((await json(`/test/seen/${space}`)).number, number)
}

/** Bundles the entry of a Worker. It imports nothing of a host but the base class of objects, and what the scope of runs needs. */
export const script = async (entry: string): Promise<string> => {
  const { imports, text } = await bundled(entry)
  assert.deepStrictEqual(imports.filter((module) => module !== "node:async_hooks"), ["cloudflare:workers"])
  return text
}

/** The files of a built Worker, with its entry first. They are all there when it begins, as on the platform. */
const filesOf = (folder: string) => {
  const names = readdirSync(folder).filter((file) => file.endsWith(".js"))
  return ["worker.js", ...names.filter((name) => name !== "worker.js")].map((name) => {
    const path = join(folder, name)
    return { type: "ESModule" as const, path, contents: readFileSync(path, "utf8") }
  })
}

/** The files that the platform serves beside a built Worker, as its `wrangler.jsonc` says. */
const assetsOf = (directory: string) => !existsSync(directory) ? {} : {
  assets: { directory, binding: "REFERENCE", routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: true } }
}

/** Hands on both outputs of the process. */
const printing = (printed: (text: string) => void) => (...outputs: ReadonlyArray<Readable>): void => {
  for (const output of outputs) output.on("data", (chunk) => printed(String(chunk)))
}

/** Runs a Worker until `use` ends: the text of a script, or a folder that a build wrote. */
export const running = async <A>(
  script: string | { readonly folder: string },
  use: (edge: Edge) => Promise<A>,
  options: Options = {}
): Promise<A> => {
  const code = typeof script === "string"
    ? modulesOf(script)
    : { modules: filesOf(script.folder), modulesRoot: script.folder, ...assetsOf(join(script.folder, "assets")) }
  const settings = {
    ...code,
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: [...options.flags ?? [COMPATIBILITY_FLAG]],
    cf: false,
    durableObjects: {
      SPACES: { className: "Space", useSQLite: true },
      DIRECTORY: { className: "Directory", useSQLite: true }
    },
    bindings: { ...options.public === true ? { SYSTOLE_PUBLIC: "true" } : { SYSTOLE_TOKEN: TOKEN }, ...options.bindings },
    r2Buckets: [...options.r2Buckets ?? []],
    ...options.printed === undefined ? {} : { handleRuntimeStdio: printing(options.printed) },
    ...options.folder === undefined ? {} : { durableObjectsPersist: options.folder }
  }
  const miniflare = new Miniflare(settings)
  const fetch: Edge["fetch"] = async (path, init) => {
    const headers = { "authorization": `Bearer ${TOKEN}`, ...init?.headers as Record<string, string> }
    return await miniflare.dispatchFetch(`http://worker${path}`, { ...init, headers } as object) as unknown as Response
  }
  const edge: Edge = {
    miniflare,
    restart: () => miniflare.setOptions(settings),
    fetch,
    json: async (path) => (await fetch(path)).json(),
    signal: async (space, signal, prefer = "wait=60") => {
      const headers = { "content-type": "application/json", prefer }
      const response = await fetch(`/v1/spaces/${space}/signals`, { method: "POST", headers, body: JSON.stringify(signal) })
      return { status: response.status, body: await response.json() }
    }
  }
  try {
    return await use(edge)
  } finally {
    await miniflare.dispose()
  }
}
