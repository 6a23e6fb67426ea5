/**
 * The mixed load of a soak: signals, delayed signals, durable runs, uploads, reads of a derived cell, and streams.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { request } from "node:http"
import type { Random } from "../support/Random.ts"
import * as Chance from "../support/Random.ts"
import { hold, type Target, tokens } from "../attack/Targets.ts"
import { type Kind, kinds } from "./SoakProject.ts"

/** The size of an upload, in bytes. */
const UPLOAD = 50_000

/** The share of each kind of work. */
const work = ["count", "count", "count", "late", "photo", "order", "read"] as const

const json = { "content-type": "application/json" }

/** The acknowledged signals of a space. */
export interface Acknowledged {
  /** The ids of the callers, with those under which the space knows them. */
  readonly ids: Map<string, string>
  readonly counts: Record<Kind, number>
}

/** A signal of a caller. */
interface Sent {
  readonly space: string
  readonly kind: Kind
  readonly id: string
  readonly payload: object
}

/** The callers of all spaces. */
export class Load {
  readonly spaces: ReadonlyMap<string, Acknowledged>
  readonly faults = new Set<string>()
  /** The latencies since the last look, in milliseconds. */
  latencies: Array<number> = []
  private sent = 0
  /** Signals without an answer, which are sent again to the next server. */
  private unanswered: ReadonlyArray<Sent> = []
  private readonly target: Target
  private readonly draw: Random

  constructor(target: Target, names: ReadonlyArray<string>, draw: Random) {
    this.target = target
    this.draw = draw
    this.spaces = new Map(names.map((name) => [name, { ids: new Map(), counts: { count: 0, late: 0, photo: 0, order: 0 } }]))
  }

  /** The number of acknowledged signals. */
  get acknowledged(): number {
    return [...this.spaces.values()].reduce((sum, { ids }) => sum + ids.size, 0)
  }

  /** Makes one request, or several that belong together. */
  async one(): Promise<void> {
    const space = Chance.pick(this.draw, [...this.spaces.keys()])
    const kind = Chance.pick(this.draw, work)
    const began = performance.now()
    try {
      await (kind === "read" ? this.read(space) : this.send(space, kind))
      this.latencies.push(performance.now() - began)
    } catch (error) {
      this.faults.add(String(error))
    }
  }

  private async send(space: string, kind: Kind): Promise<void> {
    const id = `${kind}-${this.sent++}`
    const payload = kind === "photo" ? await this.upload(space, id) : {}
    const sent = { space, kind, id, payload }
    try {
      await this.post(sent)
    } catch (error) {
      this.unanswered = [...this.unanswered, sent]
      throw error
    }
  }

  /** Sends all signals without an answer again, to the server that has restarted. Returns the faults of those that it does not take. */
  async resend(target: Pick<Target, "ask">): Promise<ReadonlyArray<string>> {
    const faults: Array<string> = []
    for (const sent of this.unanswered) {
      await this.post(sent, target).catch((error: unknown) => faults.push(`${sent.id} of ${sent.space}: ${String(error)}`))
    }
    this.unanswered = []
    return faults
  }

  private async post({ id, kind, payload, space }: Sent, { ask }: Pick<Target, "ask"> = this.target): Promise<void> {
    const body = JSON.stringify({ signal: `/signals/soak/${kind}/${id}`, id, payload })
    const { status, text } = await ask(`/v1/spaces/${space}/signals`, { method: "POST", headers: json, body })
    hold(status === 202 || status === 200, `a signal is answered ${status} ${text.slice(0, 200)}`)
    const known = this.spaces.get(space)
    if (known === undefined) return
    known.ids.set(id, (JSON.parse(text) as { readonly id: string }).id)
    known.counts[kind]++
  }

  private async upload(space: string, id: string): Promise<{ readonly address: string; readonly size: number }> {
    const body = Buffer.alloc(UPLOAD, id)
    const { status, text } = await this.target.ask(`/v1/spaces/${space}/blobs`, { method: "PUT", body })
    hold(status === 201, `an upload is answered ${status} ${text.slice(0, 200)}`)
    return { address: `/cas/${createHash("sha256").update(body).digest("hex")}`, size: UPLOAD }
  }

  /** Reads the derived sum, which each acknowledged and handled signal has raised. */
  private async read(space: string): Promise<void> {
    const { status, text } = await this.target.ask(`/v1/spaces/${space}/cells/data/total?pull`)
    hold(status === 200 || status === 404, `a read of a derived cell is answered ${status} ${text.slice(0, 200)}`)
  }

  /** Follows a counter until an abort: it never falls. */
  follow(signal: AbortSignal): Promise<void> {
    const path = `/v1/spaces/${Chance.pick(this.draw, [...this.spaces.keys()])}/cells/data/done/count`
    const headers = { accept: "text/event-stream", authorization: `Bearer ${tokens.operator}` }
    let last = 0
    return new Promise((resolve) => {
      const asked = request(`${this.target.server.url}${path}`, { agent: false, headers, signal }, (response) => {
        response.setEncoding("utf8").on("error", () => {}).on("data", (chunk: string) => {
          for (const [, data] of chunk.matchAll(/^data: (\d+)$/gm)) {
            if (Number(data) < last) this.faults.add(`a counter falls from ${last} to ${data}`)
            last = Number(data)
          }
        })
      })
      asked.on("error", () => {}).on("close", resolve).end()
    })
  }
}

/** The counters of a space after its acknowledged signals. */
export const expected = ({ counts }: Acknowledged): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(kinds).flatMap(([kind, names]) =>
    counts[kind as Kind] === 0 ? [] : names.map((name) => [name, counts[kind as Kind]])))
