/**
 * A foreign server that keeps the places of a channel, and one that answers with documents that no parser likes.
 *
 * @module
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as HostileServer from "../HostileServer.ts"
import type { Ground, Part } from "../Part.ts"
import { hold, PATIENCE, type Target } from "../Targets.ts"

const space = "/v1/spaces/customer"

/** The longest time of a request, in milliseconds. */
const TIMEOUT = 400

/** The size of content that the store of the space does not take, in bytes. */
const LARGE = 33 * 1_048_576

/** The interval of attempts that upload content. */
const UPLOADED = 40

/** The most time of an upload in milliseconds. A shared machine hashes slowly. */
const LONG = 30_000

/** Requests of each channel to the hostile server, in each of its ways. */
const caller = (url: string): string => `import { Enzyme } from "systole"
const requests = {
  http: (way) => ({ opcode: "fetch", payload: { url: "${url}/" + way, expect: "2xx" } }),
  hook: (way) => ({ opcode: "send", payload: { url: "${url}/" + way, type: "a", data: {} } }),
  store: (way) => ({ opcode: "s3_get", payload: { key: way } })
}
export default Enzyme.make({
  name: "caller",
  query: "/signals/call/:channel/:way",
  run: (tx, { params: { channel, way }, payload: { code, state }, signal }) => {
    if (state !== undefined) return void tx.increment("/data/ends/" + channel + "/" + way + "/" + (code ?? state).replace("/", "-"))
    tx.io.request({ channel, attempts: 1, signal, ...requests[channel](way) })
  }
})
`

const ground = (url: string, secret: { readonly file: string }): Ground => {
  const common = { timeoutMs: TIMEOUT, jobs: 8 }
  const account = { endpoint: url, bucket: "bucket", accessKeyId: secret, secretAccessKey: secret }
  return {
    channels: {
      http: { use: "http", options: { allow: ["127.0.0.1"], maxBytes: 1_048_576, ...common } },
      hook: { use: "webhook-out", options: { allow: ["127.0.0.1"], secrets: [secret], ...common } },
      store: { use: "s3", options: { ...account, maxBytes: 1_048_576, ...common } }
    },
    content: { use: "bucket", options: { ...account, timeoutMs: TIMEOUT } },
    enzymes: { caller: caller(url) }
  }
}

const channels = ["http", "hook", "store"]

const upload = async ({ ask }: Target, n: number): Promise<void> => {
  const began = performance.now()
  const body = Buffer.alloc(LARGE, n)
  const { status, text } = await ask("/v1/spaces/cloud/blobs", { method: "PUT", body })
  hold(status < 300 || status >= 500, `an upload is answered ${status} ${text.slice(0, 200)}`)
  const took = Math.round(performance.now() - began)
  hold(took < LONG, `an upload takes ${took} ms`)
}

/** Waits until no request is open, which the deadlines bring about whatever the server does. */
const ended = async ({ ask }: Target): Promise<void> => {
  let open: ReadonlyArray<unknown> = []
  for (const end = performance.now() + PATIENCE; performance.now() < end;) {
    open = (JSON.parse((await ask(`${space}/io?open=true`)).text) as { readonly requests: ReadonlyArray<unknown> }).requests
    if (open.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, TIMEOUT))
  }
  hold(false, `${open.length} requests never end: ${JSON.stringify(open[0]).slice(0, 300)}`)
}

export const partners: Part = {
  name: "partners",
  holds: "each request to a foreign server ends at its deadline, and no document of its holds up another space",
  everyMs: 50,
  prepare: async ({ draw, folder }) => {
    const server = await HostileServer.start()
    const file = join(folder, "secret")
    await writeFile(file, `whsec_${Buffer.alloc(32, 1).toString("base64")}`)
    return {
      ground: ground(server.url, { file }),
      attempt: async (target, n) => {
        if (n % UPLOADED === UPLOADED - 1) return upload(target, n)
        const way = HostileServer.ways[draw(HostileServer.ways.length)] ?? ""
        const body = JSON.stringify({ signal: `/signals/call/${channels[n % channels.length]}/${way}`, payload: {} })
        const { status } = await target.ask(`${space}/signals`, { method: "POST", headers: { "content-type": "application/json" }, body })
        hold(status === 202 || status === 429, `a signal is answered ${status}`)
      },
      check: ended,
      end: async () => server.end()
    }
  }
}
