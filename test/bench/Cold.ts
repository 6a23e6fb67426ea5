/**
 * Cold starts: processes from their spawn to their first answer.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as Command from "../scripts/Command.ts"
import type { Host } from "../scripts/Host.ts"
import { environment, node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Workerd from "../runtime/Workerd.ts"

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

/** The first signal of a new space, for the example. */
const received = { signal: "/signals/goods/receive", target: "/data/products/tea", payload: { price: 4, count: 5 } }

/** Posts an event, and waits until it is handled. */
const posted = async (url: string, body: object, credentials: Readonly<Record<string, string>> = {}): Promise<void> => {
  const headers = { "content-type": "application/json", prefer: "wait=30", ...credentials }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  if (response.status !== 200) throw new Error(`The first event is answered with ${response.status}: ${await response.text()}`)
  await response.text()
}

/** Sends the first signal to a new space, and waits until it is handled. */
const handled = (url: string, credentials?: Readonly<Record<string, string>>): Promise<void> =>
  posted(`${url}/v1/spaces/s${++spaces}/signals`, received, credentials)

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

/** A Worker in a process of raw workerd, and its first event in a new object. */
interface Contender {
  readonly start: (folder: string) => Promise<Workerd.Workerd>
  readonly event: (url: string) => Promise<void>
}

/** The Worker of a build. The first module is the Worker, and the others are its chunks. */
export const worker = (out: string): Contender => {
  const text = (file: string) => readFileSync(join(out, file), "utf8")
  const files = readdirSync(out).filter((file) => file.endsWith(".js") && file !== "worker.js")
  const chunks = Object.fromEntries(files.map((file) => [file, text(file)]))
  return {
    start: (folder) => Workerd.start(folder, text("worker.js"), { token: TOKEN, chunks }),
    event: (url) => handled(url, { authorization: `Bearer ${TOKEN}` })
  }
}

/** Objects written by hand for one event, by the name in its query: with two commits, or an echo without storage. */
export const byHand = (type: "Echo" | "Peer"): Contender => ({
  start: (folder) => Workerd.start(folder, `export { ${type} } from "./objects.mjs"
export default { fetch: (request, env) => env.OBJECT.getByName(new URL(request.url).search).fetch(request) }
`, { objects: { OBJECT: type }, chunks: { "objects.mjs": readFileSync(join(root, "test/bench/baseline/objects.mjs"), "utf8") } }),
  event: (url) => posted(`${url}/?s${++spaces}`, { id: "1", target: "/data/products/tea", payload: { n: 1 } })
})

/** The times of the first event of a process, and of one in another new object after it, in milliseconds. */
export const firsts = async ({ event, start }: Contender): Promise<{ readonly cold: number; readonly warm: number }> => {
  const { kill, url } = await start(mkdtempSync(join(folder, "workerd-")))
  try {
    const timed = async (): Promise<number> => {
      const began = performance.now()
      await event(url)
      return performance.now() - began
    }
    return { cold: await timed(), warm: await timed() }
  } finally {
    await kill()
  }
}
