import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join, relative } from "node:path"
import { type Server, terminal } from "../cli/Terminal.ts"
import { root } from "../scripts/Host.ts"
import * as Follow from "../support/Follow.ts"

const example = join(root, "examples", "approval")
const space = "/v1/spaces/office"

const send = async (place: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(place, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) })

/** Follows the stream of a path, and returns its first value that meets the condition. */
const until = <A>(url: string, path: string, condition: (value: A) => boolean): Promise<A> => Follow.until(`${url}${path}`, condition)

interface Instance {
  readonly state: string
  readonly pc: string
  readonly history: ReadonlyArray<{ readonly step: string; readonly outcome: string }>
}

const waitsAt = (url: string, order: string, step: string) =>
  until<Instance>(url, `${space}/flows/${order}`, ({ pc, state }) => state === "waiting" && pc === step)
const isOver = (url: string, order: string) =>
  until<Instance>(url, `${space}/flows/${order}`, ({ state }) => state === "done" || state === "error")

/** Runs the worker until it has reported one price. Returns its output. */
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
  const config = { enzymes, system: ["inst_ing", "mr_init", "mr_route", "rv_init"], spaces: { create: "on-demand" } }
  write("systole.config.ts", `export default ${JSON.stringify(config)}\n`)
}

/** Creates the ledgers, and starts the flow of an order. Returns the two statuses. */
const begin = async (url: string, inst: string, input: object): Promise<ReadonlyArray<number>> => {
  const init = await send(`${url}${space}/signals`, { signal: "/CEP:sig_sys/init" }, { prefer: "wait=60" })
  const flow = await send(`${url}${space}/flows`, { flow: "approval", inst, input })
  return [init.status, flow.status]
}

/** Fetches a fresh token of a rendezvous. */
const tokenOf = async (url: string, key: string): Promise<string> => {
  const { token } = await (await send(`${url}${space}/rv/${key}/token`, {})).json() as { readonly token: string }
  return token
}

/** Reports on a rendezvous with a token. Returns the status. */
const report = async (
  url: string,
  key: string,
  { body = {}, token }: { readonly body?: object; readonly token: string }
): Promise<number> =>
  (await send(`${url}${space}/rv/${key}/report`, body, { authorization: `Rendezvous ${token}` })).status

describe("The approval example, killed at every step", () => {
  it.live("decides an order once, with a worker in Python and a person over HTTP", () =>
    Effect.flatMap(terminal(), ({ json, root: from, serve, write }) =>
      Effect.promise(async () => {
        project(write, from)
        let server: Server = await serve("start")
        const killed = async (): Promise<string> => {
          await server.stop("SIGKILL")
          server = await serve("start")
          return server.url
        }
        assert.deepStrictEqual(await begin(server.url, "order17", { goods: "telescope" }), [200, 201])
        // The kills: after the acceptance, while the flow awaits the worker, with an outstanding token, after the price, after the answer.
        await waitsAt(await killed(), "order17", "quoted")
        const lost = await tokenOf(server.url, "order17.quote")
        const printed = JSON.parse(await work(await killed())) as { readonly status: number }
        assert.strictEqual(printed.status, 200)
        await killed()
        assert.strictEqual(await report(server.url, "order17.quote", { token: lost }), 403)
        await waitsAt(server.url, "order17", "answer")
        const approval = { token: await tokenOf(server.url, "order17.ask"), body: { telemetry: { approved: true } } }
        await killed()
        assert.strictEqual(await report(server.url, "order17.ask", approval), 200)
        const { history, state } = await isOver(await killed(), "order17")
        assert.strictEqual(state, "done")
        assert.deepStrictEqual(history.map(({ outcome, step }) => `${step} ${outcome}`), [
          "limit within",
          "quote spawned",
          "quoted applied",
          "priced held",
          "dear ask",
          "ask spawned",
          "answer applied",
          "agreed held"
        ])
        await until(await killed(), `${space}/cells/data/decisions/order17`, (value: { readonly times?: number }) => value.times === 1)
        assert.strictEqual(await report(server.url, "order17.ask", approval), 409)
        await server.stop("SIGTERM")
        assert.deepStrictEqual(await json("cell", "get", "office", "/data/decisions/order17"), { decided: "order", times: 1 })
        assert.notProperty(await json("journal", "verify", "office"), "fault")
      })))

  it.live("refuses an order without an answer, after both graces", () =>
    Effect.flatMap(terminal(), ({ root: from, serve, write }) =>
      Effect.promise(async () => {
        project(write, from)
        const first = await serve("start")
        await begin(first.url, "order18", { goods: "telescope", patience: 8 })
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
        const decision = `${space}/cells/data/decisions/order18`
        await until<{ readonly decided?: string }>(second.url, decision, ({ decided }) => decided === "refuse")
        await second.stop("SIGTERM")
      })))
})
