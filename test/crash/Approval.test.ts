import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join, relative } from "node:path"
import { type Server, terminal } from "../cli/Terminal.ts"
import { root } from "../scripts/Host.ts"

const example = join(root, "examples", "approval")
const space = "/v1/spaces/office"

const send = async (place: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(place, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) })

/** What lies at a path, followed until it is as it is wanted. */
const until = async <A>(url: string, path: string, isIt: (value: A) => boolean): Promise<A> => {
  const response = await fetch(`${url}${path}`, { headers: { accept: "text/event-stream" } })
  let text = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (const [, data = ""] of text.matchAll(/^event: value\ndata: (.*)\n\n/gm)) {
      const value = JSON.parse(data) as A
      if (isIt(value)) return value
    }
  }
  return assert.fail(`the stream of ${path} ended before it was as it was wanted: ${text}`)
}

interface Instance {
  readonly state: string
  readonly pc: string
  readonly history: ReadonlyArray<{ readonly step: string; readonly outcome: string }>
}

const waitsAt = (url: string, order: string, step: string) => until<Instance>(url, `${space}/flows/${order}`, ({ pc, state }) => state === "waiting" && pc === step)
const isOver = (url: string, order: string) => until<Instance>(url, `${space}/flows/${order}`, ({ state }) => state === "done" || state === "error")

/** Runs the worker until it has given one price; answers what it printed. */
const work = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn("python3", [join(example, "worker.py"), url, "office", "--once"], { stdio: ["ignore", "pipe", "inherit"] })
    let printed = ""
    child.stdout.on("data", (chunk) => printed += String(chunk))
    child.on("error", reject)
    child.on("close", (code) => code === 0 ? resolve(printed) : reject(new Error(`the worker ended with ${code}: ${printed}`)))
  })

const project = (write: (file: string, text: string) => void, from: string): void => {
  const enzymes = [join(example, "enzymes"), join(root, "enzymes")].map((folder) => relative(from, folder))
  write("systole.config.ts", `export default ${JSON.stringify({ enzymes, system: ["inst_ing", "mr_init", "mr_route", "rv_init"], spaces: { create: "on-demand" } })}\n`)
}

describe("The example of approval, killed at every step", () => {
  it.live("decides an order once, by a worker in Python and a person over HTTP", () =>
    Effect.flatMap(terminal(), ({ json, root: from, serve, write }) =>
      Effect.promise(async () => {
        project(write, from)
        let server: Server = await serve("start")
        const killed = async (): Promise<string> => {
          await server.stop("SIGKILL")
          server = await serve("start")
          return server.url
        }
        assert.strictEqual((await send(`${server.url}${space}/signals`, { signal: "/CEP:sig_sys/init" }, { prefer: "wait=10" })).status, 200)
        assert.strictEqual((await send(`${server.url}${space}/flows`, { flow: "approval", inst: "order17", input: { goods: "telescope" } })).status, 201)
        // Right after it was accepted; while the worker is awaited; with a token in somebody's hand; after the price; after the answer.
        await waitsAt(await killed(), "order17", "quoted")
        const lost = await (await send(`${server.url}${space}/rv/order17.quote/token`, {})).json() as { readonly token: string }
        const printed = JSON.parse(await work(await killed())) as { readonly status: number }
        assert.strictEqual(printed.status, 200)
        await killed()
        assert.strictEqual((await send(`${server.url}${space}/rv/order17.quote/report`, {}, { authorization: `Rendezvous ${lost.token}` })).status, 403)
        await waitsAt(server.url, "order17", "answer")
        const { token } = await (await send(`${server.url}${space}/rv/order17.ask/token`, {})).json() as { readonly token: string }
        await killed()
        const report = { telemetry: { approved: true } }
        assert.strictEqual((await send(`${server.url}${space}/rv/order17.ask/report`, report, { authorization: `Rendezvous ${token}` })).status, 200)
        const { history, state } = await isOver(await killed(), "order17")
        assert.strictEqual(state, "done")
        assert.deepStrictEqual(history.map(({ outcome, step }) => `${step} ${outcome}`), ["limit within", "quote spawned", "quoted applied", "priced held", "dear ask", "ask spawned", "answer applied", "agreed held"])
        await until(await killed(), `${space}/cells/data/decisions/order17`, (value: { readonly times?: number }) => value.times === 1)
        assert.strictEqual((await send(`${server.url}${space}/rv/order17.ask/report`, report, { authorization: `Rendezvous ${token}` })).status, 409)
        await server.stop("SIGTERM")
        assert.deepStrictEqual(await json("cell", "get", "office", "/data/decisions/order17"), { decided: "order", times: 1 })
        assert.notProperty(await json("journal", "verify", "office"), "fault")
      })), 120_000)

  it.live("refuses an order for which nobody answers, after both graces", () =>
    Effect.flatMap(terminal(), ({ root: from, serve, write }) =>
      Effect.promise(async () => {
        project(write, from)
        const first = await serve("start")
        await send(`${first.url}${space}/signals`, { signal: "/CEP:sig_sys/init" }, { prefer: "wait=10" })
        await send(`${first.url}${space}/flows`, { flow: "approval", inst: "order18", input: { goods: "telescope", patience: 8 } })
        await waitsAt(first.url, "order18", "quoted")
        await work(first.url)
        await until<{ readonly state: string }>(first.url, `${space}/rv/order18.ask`, ({ state }) => state === "late")
        await first.stop("SIGKILL")
        const second = await serve("start")
        const { history, state } = await isOver(second.url, "order18")
        assert.strictEqual(state, "error")
        assert.deepStrictEqual(history.slice(-2).map(({ outcome, step }) => `${step} ${outcome}`), ["answer timeout", "agreed refused"])
        const entry = await (await fetch(`${second.url}${space}/rv/order18.ask`)).json() as object
        assert.deepInclude(entry, { state: "timeout", grace_used: 2 })
        await until(second.url, `${space}/cells/data/decisions/order18`, (value: { readonly decided?: string }) => value.decided === "refuse")
        await second.stop("SIGTERM")
      })), 120_000)
})
