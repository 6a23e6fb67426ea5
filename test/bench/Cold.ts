/**
 * Cold starts: processes from their spawn to their first answer.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as Command from "../scripts/Command.ts"
import type { Host } from "../scripts/Host.ts"
import { environment, node, root, tool } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

const folder = mkdtempSync(join(tmpdir(), "systole-cold-"))
const shop = join(root, "examples", "shop")
const TOKEN = "a-token-for-benchmarks"

/** Removes the builds and their data. */
export const close = (): void => rmSync(folder, { recursive: true, force: true })

/** Builds the example for a platform, and returns the folder of the build. */
export const built = async (target: Host | "workers"): Promise<string> => {
  await Command.ensure()
  const out = join(folder, target)
  const { code, output } = await run([node(), Command.file, "build", "--target", target, "--out", out], { cwd: shop })
  if (code !== 0) throw new Error(`systole build ended with ${code}: ${output}`)
  return out
}

let spaces = 0

/** Sends the first signal to a new space, and waits until it is handled. */
const handled = async (url: string, credentials: Readonly<Record<string, string>> = {}): Promise<void> => {
  const response = await fetch(`${url}/v1/spaces/s${++spaces}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=30", ...credentials },
    body: JSON.stringify({ signal: "/signals/goods/receive", target: "/data/products/tea", payload: { price: 4, count: 5 } })
  })
  if (response.status !== 200) throw new Error(`The first signal is answered with ${response.status}: ${await response.text()}`)
  await response.text()
}

/** The milliseconds from the spawn of a process to its first line, and to what follows it. */
const started = async (
  [file, ...args]: readonly [string, ...ReadonlyArray<string>],
  after: (line: string) => Promise<void> = () => Promise.resolve()
): Promise<number> => {
  const began = performance.now()
  const child = spawn(file, args, { cwd: shop, env: environment(), stdio: ["ignore", "pipe", "ignore"] })
  const gone = new Promise((resolve) => child.once("exit", resolve))
  try {
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve)
      child.once("exit", (code) => reject(new Error(`${file} ended with exit code ${code}`)))
    })
    await after(line)
    return performance.now() - began
  } finally {
    child.kill("SIGKILL")
    await gone
  }
}

const data = (): string => mkdtempSync(join(folder, "data-"))

/** The time until the command prints its version. */
export const version = (): Promise<number> => started([node(), Command.file, "--version"])

const serve = (line: readonly [string, ...Array<string>]): readonly [string, ...Array<string>] =>
  [...line, "start", "--port", "0", "--data", data(), "--json"]

/** The time until a server listens. */
export const listening = (host: Host, file = Command.file): Promise<number> => started(serve(Command.line(host, file)))

/** The time until the first signal of a new space is handled. */
export const beat = (host: Host, file = Command.file): Promise<number> =>
  started(serve(Command.line(host, file)), (line) => handled((JSON.parse(line) as { readonly url: string }).url))

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })

/** A Worker with one object that answers and stores nothing, for comparison. */
const ECHO = `import { DurableObject } from "cloudflare:workers"
export class Space extends DurableObject { async fetch(request) { return new Response(await request.text()) } }
export class Directory extends DurableObject {}
export default { fetch: (request, env) => env.SPACES.getByName(new URL(request.url).pathname).fetch(request) }
`

/** Writes the Worker for comparison, and returns its folder. */
export const echo = (): string => {
  const out = mkdtempSync(join(folder, "echo-"))
  writeFileSync(join(out, "worker.js"), ECHO)
  return out
}

const configuration = (port: number, files: ReadonlyArray<string>): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "disk", disk = (path = "${data()}", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [${files.map((file) => `(name = "${file}", esModule = embed "${file}")`).join(", ")}],
  compatibilityDate = "2026-08-03",
  bindings = [
    (name = "SPACES", durableObjectNamespace = "Space"),
    (name = "DIRECTORY", durableObjectNamespace = "Directory"),
    (name = "SYSTOLE_TOKEN", text = "${TOKEN}")
  ],
  durableObjectNamespaces = [
    (className = "Space", uniqueKey = "Space", enableSql = true),
    (className = "Directory", uniqueKey = "Directory", enableSql = true)
  ],
  durableObjectStorage = (localDisk = "disk")
);
`

/** Waits until a process listens. */
const open = async (port: number): Promise<void> => {
  const isOpen = await new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false)).once("close", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })
  return isOpen ? undefined : open(port)
}

/** The times of raw workerd with a Worker: of the first signal after its start, and of one for another new space after that. */
export const worker = async (out: string): Promise<{ readonly cold: number; readonly warm: number }> => {
  const port = await freePort()
  const config = join(out, `config-${port}.capnp`)
  // The first module is the Worker, and the others are its chunks.
  const chunks = readdirSync(out).filter((file) => file.endsWith(".js") && file !== "worker.js")
  writeFileSync(config, configuration(port, ["worker.js", ...chunks]))
  const child = spawn(tool("workerd"), ["serve", config], { env: environment(), stdio: ["ignore", "ignore", "ignore"] })
  const gone = new Promise((resolve) => child.once("exit", resolve))
  const url = `http://127.0.0.1:${port}`
  try {
    await open(port)
    const timed = async (): Promise<number> => {
      const began = performance.now()
      await handled(url, { authorization: `Bearer ${TOKEN}` })
      return performance.now() - began
    }
    return { cold: await timed(), warm: await timed() }
  } finally {
    child.kill("SIGKILL")
    await gone
  }
}
