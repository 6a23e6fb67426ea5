/**
 * The process of a probe: it sends small signals, one after the other, and measures each. A process of its own is not delayed by the
 * work of the attackers.
 *
 * A signal is sent when the one before is handled: signals that wait behind each other would measure how many have come while a
 * busy machine gave the server no core.
 *
 * @module
 */
import { Agent, request } from "node:http"
import process from "node:process"
import { PATIENCE, scheduled } from "./Targets.ts"

/** The shortest time between two signals, in milliseconds. */
const INTERVAL = 5

/** A request for a window, from the parent. */
export interface Ask {
  readonly url: string
  readonly path: string
  readonly token: string
  /** The process of the server. */
  readonly pid: number | undefined
  /** The length of the window, in milliseconds. */
  readonly millis: number
}

/** The cost of one signal, in milliseconds. */
export interface Sample {
  /** The time until it was handled, without that for which the server or the probe was ready and had no core. */
  readonly time: number
  /** The time for which the server's main thread ran meanwhile, which other work of the machine does not prolong. */
  readonly processor: number
}

/** The samples of a window, or the failure of one of its signals. */
export interface Told {
  readonly samples: ReadonlyArray<Sample>
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

/** Times a signal. A host that does not tell how long threads run has the time alone. */
const timed = async (ask: Ask): Promise<Sample> => {
  const threads = [ask.pid, process.pid]
  const [begin, before] = [performance.now(), threads.map(scheduled)]
  await signal(ask)
  const [took, after] = [performance.now() - begin, threads.map(scheduled)]
  const waited = after.reduce((sum, { waited }, i) => sum + waited - (before[i]?.waited ?? 0), 0)
  const time = Math.max(0, took - waited)
  return { time, processor: after[0]?.ran === 0 ? time : (after[0]?.ran ?? 0) - (before[0]?.ran ?? 0) }
}

const measured = async (ask: Ask): Promise<Told> => {
  const end = performance.now() + ask.millis
  const samples: Array<Sample> = []
  try {
    for (let due = performance.now(); due < end; due = Math.max(due + INTERVAL, performance.now())) {
      await rest(Math.max(0, due - performance.now()))
      samples.push(await timed(ask))
    }
    return { samples }
  } catch (error) {
    return { samples: [], failure: String(error) }
  }
}

process.on("message", (ask: Ask) => void measured(ask).then((told) => process.send?.(told)))
process.on("disconnect", () => process.exit())
