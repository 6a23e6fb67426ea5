import { assert, describe, it } from "@effect/vitest"
import { execFile, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Command from "../scripts/Command.ts"
import { environment } from "../scripts/Host.ts"

const files = {
  "systole.config.ts": `import { defineConfig } from "systole"\nexport default defineConfig({ persistence: "memory" })\n`,
  "enzymes/put.ts": `import { Enzyme } from "systole"\nexport default Enzyme.make({ name: "put", query: "/signals/put", run: (tx, { ` +
    `payload }) => tx.set("/data/one", payload) })\n`,
  "enzymes/double.ts": `import { Computation } from "systole"\nexport default Computation.make({ name: "double", output: ` +
    `"/data/double", run: (tx) => Number(tx.get("/data/one") ?? 0) * 2 })\n`
}

/** A message of the inspector. */
interface Told {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly callFrames: ReadonlyArray<{ readonly callFrameId: string }> }
  readonly result?: { readonly result?: { readonly value?: unknown } }
}

/** A debugger attached to a process. */
const attach = async (url: string) => {
  const socket = new WebSocket(url)
  await new Promise<void>((resolve) => socket.addEventListener("open", () => resolve()))
  const answers = new Map<number, (told: Told) => void>()
  const paused: Array<Told> = []
  let stopped: ((told: Told) => void) | undefined
  socket.addEventListener("message", ({ data }) => {
    const told = JSON.parse(String(data)) as Told
    if (told.id !== undefined) answers.get(told.id)?.(told)
    if (told.method !== "Debugger.paused") return
    if (stopped === undefined) paused.push(told)
    else stopped(told)
  })
  let asked = 0
  const ask = (method: string, params: object = {}) => new Promise<Told>((resolve) => {
    answers.set(++asked, resolve)
    socket.send(JSON.stringify({ id: asked, method, params }))
  })
  await ask("Debugger.enable")
  return {
    ask,
    /** Resolves when the process is stopped. */
    stop: () => new Promise<Told>((resolve) => {
      const told = paused.shift()
      if (told !== undefined) resolve(told)
      else stopped = (told) => (stopped = undefined, resolve(told))
    }),
    close: () => socket.close()
  }
}

/** `systole dev` in a process with an inspector: the address of the server, and of the inspector. */
const develop = async (project: string) => {
  const [file, ...args] = Command.line("node")
  const child = spawn(
    file,
    ["--inspect=127.0.0.1:0", ...args, "dev", "--port", "0", "--json"],
    { cwd: project, env: environment(), stdio: ["ignore", "pipe", "pipe"] }
  )
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const said = { stdout: "", stderr: "" }
  const found = (stream: "stdout" | "stderr", pattern: RegExp) => new Promise<string>((resolve, reject) => {
    child[stream].on("data", (chunk) => {
      const match = pattern.exec(said[stream] += String(chunk))
      if (match !== null) resolve(match[1]!)
    })
    child.once("exit", (code) => reject(new Error(`The runtime ended with exit code ${code}: ${said.stderr}`)))
  })
  const [url, inspector] = await Promise.all([found("stdout", /"url":"([^"]+)"/), found("stderr", /(ws:\/\/\S+)/)])
  return {
    url,
    inspector,
    end: async () => {
      child.kill("SIGKILL")
      await gone
    }
  }
}

describe("systole dev", () => {
  it("stops in the debugger before a node with a breakpoint, and steps through the beats of a held space", async () => {
    const project = mkdtempSync(join(tmpdir(), "systole-debug-"))
    mkdirSync(join(project, "enzymes"))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text)
    const server = await develop(project)
    const space = `${server.url}/v1/spaces/home`
    const send = async (method: string, path: string, { body, prefer = "wait=60" }: {
      readonly body: unknown
      readonly prefer?: string
    }): Promise<unknown> =>
      (
        await fetch(`${space}${path}`, { method, headers: { "content-type": "application/json", prefer }, body: JSON.stringify(body) })
      ).json()
    const get = async (path: string): Promise<unknown> => (await fetch(`${space}${path}`)).json()
    const systole = async (verb: string, group = "debug"): Promise<Readonly<Record<string, unknown>>> => {
      const [file, ...args] = Command.line("node")
      const { stdout } = await promisify(execFile)(file, [...args, group, verb, "home", "--json"], { cwd: project, env: environment() })
      return JSON.parse(stdout) as Readonly<Record<string, unknown>>
    }
    const put = (payload: number) => send("POST", "/signals", { body: { signal: "/signals/put", payload } })
    try {
      await put(1)
      assert.strictEqual(await get("/cells/data/double?pull"), 2)
      const inspector = await attach(server.inspector)
      assert.deepInclude(
        await send("PUT", "/debug", { body: { breakpoints: ["double"] } }) as object,
        { breakpoints: ["double"], held: false }
      )
      await put(2)
      const pulled = get("/cells/data/double?pull")
      const { params } = await inspector.stop()
      const { result } = await inspector.ask(
        "Debugger.evaluateOnCallFrame",
        { callFrameId: params!.callFrames[0]!.callFrameId, expression: "at", returnByValue: true }
      )
      assert.deepInclude(result!.result!.value as object, { node: "double", causes: ["/data/one"] })
      await inspector.ask("Debugger.resume")
      assert.strictEqual(await pulled, 4)
      inspector.close()
      assert.deepInclude(await systole("at"), { breakpoints: [] })
      assert.deepInclude(await systole("hold", "space"), { held: true })
      const { beat } = await systole("show")
      const { id } =
        await send("POST", "/signals", { body: { signal: "/signals/put", payload: 3 }, prefer: "respond-async" }) as { readonly id: string }
      assert.deepStrictEqual(await systole("show"), { beat, breakpoints: [], held: true })
      assert.deepStrictEqual(await systole("step"), { beat: Number(beat) + 1 })
      assert.deepInclude(await get(`/receipts/${id}`) as object, { status: "handled" })
      assert.deepInclude(await systole("release", "space"), { held: false })
    } finally {
      await server.end()
      rmSync(project, { recursive: true, force: true })
    }
  })
})
