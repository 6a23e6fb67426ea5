/**
 * The process of a probe: it sends small signals at a fixed rate, and measures each from the moment at which it was due.
 *
 * So a server that stalls for a second delays all signals of that second, and not one alone. A process of its own is not delayed
 * by the work of the attackers.
 *
 * @module
 */
import { Agent, request } from "node:http"
import process from "node:process"
import { PATIENCE } from "./Targets.ts"

/** The time between two signals, in milliseconds. */
const INTERVAL = 5

/** A request for a window, from the parent. */
export interface Ask {
  readonly url: string
  readonly path: string
  readonly token: string
  /** The length of the window, in milliseconds. */
  readonly millis: number
}

/** The latencies of a window in milliseconds, or the failure of one of its signals. */
export interface Told {
  readonly millis: ReadonlyArray<number>
  readonly failure?: string
}

const agent = new Agent({ keepAlive: true })
const body = JSON.stringify({ signal: "/signals/small" })

/** Sends one signal, and waits until it is handled. */
const signal = ({ path, token, url }: Ask): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=60" }
    const asked = request(`${url}${path}`, { agent, method: "POST", headers, timeout: PATIENCE }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("error", reject)
      response.on("end", () => text.includes("\"handled\"") ? resolve() : reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`)))
    })
    asked.on("timeout", () => asked.destroy(new Error(`no answer within ${PATIENCE} ms`)))
    asked.on("error", reject)
    asked.end(body)
  })

const rest = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const measured = async (ask: Ask): Promise<Told> => {
  const begin = performance.now()
  const signals: Array<Promise<number>> = []
  for (let due = begin; due < begin + ask.millis; due += INTERVAL) {
    const early = due - performance.now()
    if (early > 0) await rest(early)
    const sent = signal(ask).then(() => performance.now() - due)
    // The window reports a failure at its end.
    sent.catch(() => {})
    signals.push(sent)
  }
  try {
    return { millis: await Promise.all(signals) }
  } catch (error) {
    return { millis: [], failure: String(error) }
  }
}

process.on("message", (ask: Ask) => void measured(ask).then((told) => process.send?.(told)))
process.on("disconnect", () => process.exit())
