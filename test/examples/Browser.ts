/**
 * A real browser without a window, where the machine has one.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import process from "node:process"

/** Where the browser is; `undefined` on a machine that has none. */
export const installed: string | undefined = (process.env["PATH"] ?? "").split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find((file) => existsSync(file))

/** A page that is open. */
export interface Page {
  /** The value of an expression in the page, as soon as it is true. */
  readonly until: (expression: string) => Promise<unknown>
  readonly run: (expression: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

interface Answer {
  readonly id?: number
  readonly result?: { readonly result?: { readonly value?: unknown } }
}

/** Opens an address in a browser of its own. */
export const open = async (url: string): Promise<Page> => {
  const profile = mkdtempSync(join(tmpdir(), "systole-browser-"))
  const browser = spawn(
    installed!,
    ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
    { stdio: ["ignore", "ignore", "pipe"] }
  )
  const gone = new Promise<void>((resolve) => browser.once("exit", () => resolve()))
  const endpoint = await new Promise<string>((resolve, reject) => {
    let printed = ""
    browser.stderr.on("data", (chunk) => {
      const found = /ws:\/\/(\S+?)\//.exec(printed += String(chunk))
      if (found !== null) resolve(found[1]!)
    })
    browser.once("exit", (code) => reject(new Error(`The browser ended with exit code ${code}: ${printed}`)))
  })
  const targets = await (await fetch(
    `http://${endpoint}/json/list`
  )).json() as ReadonlyArray<{ readonly type: string; readonly webSocketDebuggerUrl: string }>
  const socket = new WebSocket(targets.find(({ type }) => type === "page")!.webSocketDebuggerUrl)
  await new Promise<void>((resolve) => socket.addEventListener("open", () => resolve()))
  const answers = new Map<number, (answer: Answer) => void>()
  socket.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    if (answer.id !== undefined) answers.get(answer.id)?.(answer)
  })
  let asked = 0
  const ask = (method: string, params: object) => new Promise<Answer>((resolve) => {
    answers.set(++asked, resolve)
    socket.send(JSON.stringify({ id: asked, method, params }))
  })
  const run = async (expression: string) =>
    (await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result?.result?.value
  await ask("Page.navigate", { url })
  return {
    run,
    until: async (expression) => {
      for (;;) {
        const value = await run(
          `new Promise((resolve) => requestAnimationFrame(() => { try { resolve(${expression}) } catch { resolve(false) } }))`
        )
        if (value) return value
      }
    },
    close: async () => {
      socket.close()
      browser.kill("SIGKILL")
      await gone
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}
