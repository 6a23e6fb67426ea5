import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
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

/** The configuration of a proxy with the defaults of nginx and compression. */
const configuration = ({ listen, root, url }: { readonly listen: number; readonly root: string; readonly url: string }): string => {
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(root, name)};`)
  const server = `server { listen 127.0.0.1:${listen}; location / { proxy_pass ${url}; } }`
  return `daemon off; pid ${join(root, "nginx.pid")}; error_log stderr;
events { worker_connections 64; }
http { access_log off; gzip on; gzip_types *; ${folders.join(" ")} ${server} }
`
}

/** Starts a proxy before a server in a folder, on another port if the first one is taken meanwhile. */
const start = async (server: Server, root: string) => {
  const listen = await port()
  writeFileSync(join(root, "nginx.conf"), configuration({ listen, root, url: server.url }))
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
    if (said?.includes("Address already in use") === true) return start(server, root)
    if (said !== undefined) throw new Error(`nginx ended: ${said}`)
  }
  return { child, gone, origin, root }
}

/** The origin of a proxy before a server. Its process ends with the scope. */
const proxied = (server: Server) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(server, mkdtempSync(join(tmpdir(), "systole-proxy-")))),
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
})
