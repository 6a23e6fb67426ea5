import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect, type StreamState, type Update } from "../../src/client/index.ts"
import { type Server, terminal } from "../cli/Terminal.ts"
import * as Follow from "../support/Follow.ts"

const nginx = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"].find(existsSync)

const port = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { readonly port: number }
      probe.close(() => resolve(port))
    })
  })

/** A folder of a proxy, and a directive beside the defaults. */
interface Place {
  readonly root: string
  readonly directive: string
}

/** The configuration of a proxy with the defaults of nginx and compression. */
const configuration = ({ directive, listen, root, url }: Place & { readonly listen: number; readonly url: string }): string => {
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(root, name)};`)
  const server = `server { listen 127.0.0.1:${listen}; location / { proxy_pass ${url}; ${directive} } }`
  return `daemon off; pid ${join(root, "nginx.pid")}; error_log stderr;
events { worker_connections 64; }
http { access_log off; gzip on; gzip_types *; ${folders.join(" ")} ${server} }
`
}

/** Starts a proxy before a server in a folder, on another port if the first one is taken meanwhile. */
const start = async (server: Server, place: Place) => {
  const { root } = place
  const listen = await port()
  writeFileSync(join(root, "nginx.conf"), configuration({ ...place, listen, url: server.url }))
  const child = spawn(nginx!, ["-p", root, "-e", "stderr", "-c", join(root, "nginx.conf")], { stdio: ["ignore", "ignore", "pipe"] })
  const gone = new Promise<string>((resolve) => {
    let said = ""
    child.stderr.on("data", (chunk) => said += String(chunk))
    child.once("close", () => resolve(said))
  })
  const origin = `http://127.0.0.1:${listen}`
  const isUp = async (): Promise<boolean> => await fetch(`${origin}/readyz`).then(({ ok }) => ok, () => false)
  for (let said: string | undefined; !await isUp();) {
    said = await Promise.race([gone, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))])
    if (said?.includes("Address already in use") === true) return start(server, place)
    if (said !== undefined) throw new Error(`nginx ended: ${said}`)
  }
  return { child, gone, origin, root }
}

/** The origin of a proxy before a server. Its process ends with the scope. */
const proxied = (server: Server, directive = "") =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(server, { directive, root: mkdtempSync(join(tmpdir(), "systole-proxy-")) })),
      ({ child, gone, root }) =>
        Effect.promise(async () => {
          child.kill("SIGTERM")
          await gone
          rmSync(root, { recursive: true, force: true })
        })
    ),
    ({ origin }) => origin
  )

describe.skipIf(nginx === undefined)(`A stream behind nginx${nginx === undefined ? " (skipped: it is not installed)" : ""}`, () => {
  it.live("passes its defaults at once", () =>
    Effect.gen(function*() {
      const { serve } = yield* terminal({ "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` })
      const server = yield* Effect.promise(() => serve("start"))
      const cell = `${yield* proxied(server)}/v1/spaces/home/cells/data/n`
      const put = (value: number) => fetch(cell, { method: "PUT", headers: { "content-type": "application/json" }, body: String(value) })
      yield* Effect.promise(async () => {
        assert.strictEqual((await put(1)).status, 200)
        const two = Follow.until<number>(cell, (value) => value === 2)
        assert.strictEqual(await Follow.until<number>(cell, (value) => value === 1), 1)
        await put(2)
        assert.strictEqual(await two, 2)
      })
    }))

  it.live("goes on for the client where it cuts what is silent for a second, and loses no value", () =>
    Effect.gen(function*() {
      const { serve } = yield* terminal({ "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` })
      const server = yield* Effect.promise(() => serve("start"))
      const url = yield* proxied(server, "proxy_read_timeout 1s;")
      yield* Effect.promise(async () => {
        const home = connect({ url }).space("home")
        await home.set("/data/n", 0)
        const ending = new AbortController()
        const seen: Array<Update<number>> = []
        let cuts = 0
        // Each value is written while the stream is cut.
        const onState = (state: StreamState) => state === "waiting" ? void home.set("/data/n", ++cuts) : undefined
        await home.watch<number>("/data/n", { abort: ending.signal, onState }).each((update) => {
          seen.push(update)
          if (update.value === 3) ending.abort()
        })
        assert.deepStrictEqual(seen.map(({ reset, value }) => [value, reset]), [0, 1, 2, 3].map((value) => [value, undefined]))
      })
    }))
})

describe.skipIf(nginx === undefined)(`A caller behind nginx${nginx === undefined ? " (skipped: it is not installed)" : ""}`, () => {
  const config = `export default {
  spaces: { create: "on-demand" },
  token: "the-operators-own-token",
  access: {
    public: ["GET /v1/spaces/home/cells/data/**"],
    rates: { address: { requests: 2, seconds: 86_400 } },
    trustedProxies: ["127.0.0.1"]
  }
}\n`
  const forwards = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"

  it.live("has the address that trusted proxies tell: no header that it sends gives it another rate, through one or two", () =>
    Effect.gen(function*() {
      const { serve } = yield* terminal({ "systole.config.ts": config })
      const server = yield* Effect.promise(() => serve("start"))
      const near = yield* proxied(server, forwards)
      // The outer proxy stands for a load balancer, which adds the addresses of its clients.
      const adds = "proxy_set_header X-Forwarded-For \"$http_x_forwarded_for, $arg_client\";"
      const outer = yield* proxied({ ...server, url: near }, adds)
      const left = async (url: string, forged: string): Promise<number> => {
        const answer = await fetch(url, { headers: { "x-forwarded-for": forged } })
        await answer.arrayBuffer()
        return Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1])
      }
      const cell = "/v1/spaces/home/cells/data/n"
      yield* Effect.promise(async () => {
        const through = (client: string, forged: string) => left(`${outer}${cell}?client=${client}`, forged)
        assert.deepStrictEqual([await through("192.0.2.1", "8.8.8.8"), await through("192.0.2.1", "9.9.9.9, 7.7.7.7")], [1, 0])
        assert.strictEqual(await through("192.0.2.2", "192.0.2.1"), 1, "another client has its own")
        assert.deepStrictEqual([await through("2001:db8::1", ""), await through("2001:db8::2", "::1")], [1, 0], "one network")
        assert.strictEqual(await through("2001:db8:1::1", ""), 1)
        assert.deepStrictEqual([await left(`${near}${cell}`, "no address"), await left(`${near}${cell}`, "8.8.4.4, no address")], [1, 0])
      })
    }))
})
