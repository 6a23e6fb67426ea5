import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { bytesBelow } from "../support/FolderBytes.ts"
import { terminal } from "./Terminal.ts"

const ROOT = "the-operators-own-token"

const project = {
  "systole.config.ts": `export default {
  token: "${ROOT}",
  spaces: { create: "on-demand" },
  access: {
    jwt: {
      issuer: "https://issuer.example", audience: "shop", algorithms: ["ES256"], jwks: { keys: [{ kty: "EC" }] },
      claims: () => ({ verbs: ["read"] })
    }
  }
}\n`,
  "enzymes/place.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "place", query: "/signals/place", run: (tx, { target, payload }) => void tx.set(target, payload) })
`
}

describe("systole token", () => {
  it.live("makes tokens without a server and with one, and no file or output has a secret but the first", () =>
    Effect.flatMap(terminal(project), ({ root, run, serve }) => Effect.promise(async () => {
      const scope = ["--space", "shop", "--verbs", "read,signal", "--prefix", "/data/orders", "--expires", "90d"]
      const made = await run("token", "create", ...scope)
      assert.strictEqual(made.code, 0)
      const token = made.stdout.trim()
      const name = token.slice(0, 12)
      assert.match(token, /^sys_[0-9a-v]{8}_[\w-]{43}$/)
      assert.include(made.stderr, "never shown again")
      const server = await serve("start")
      const ask = async (path: string, by: string, init: RequestInit = {}) =>
        (await fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${by}`, "content-type": "application/json" } })).status
      const cell = "/v1/spaces/shop/cells/data/orders/1"
      assert.strictEqual(await ask(cell, ROOT, { method: "PUT", body: "1" }), 200)
      assert.strictEqual(await ask(cell, token), 200)
      assert.strictEqual(await ask(cell.replace("shop", "home"), token), 403)
      assert.strictEqual(await ask(cell, token, { method: "PUT", body: "2" }), 403)
      const link = new URL((await run("login")).stdout.trim())
      assert.strictEqual(link.origin + link.pathname, `${server.url}/v1/session/login`)
      const begun = await fetch(`${server.url}/v1/session`, {
        method: "POST", headers: { authorization: `Bearer ${link.hash.slice(1)}` }
      })
      assert.strictEqual(begun.status, 201)
      const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? ""
      assert.strictEqual((await fetch(server.url + cell, { headers: { cookie } })).status, 200)
      const next = (await run("token", "rotate", name)).stdout.trim()
      assert.deepStrictEqual([await ask(cell, token), await ask(cell, next)], [200, 200])
      assert.strictEqual((await run("token", "rotate", name, "--end")).code, 0)
      assert.deepStrictEqual([await ask(cell, token), await ask(cell, next)], [401, 200])
      for (const jwt of ["e30.e30.", "e30.e30.AA"]) assert.strictEqual(await ask(cell, jwt), 401)
      const listed = await run("token", "ls")
      assert.include(listed.stderr, "refused JSON Web Tokens: 2 auth/jwt")
      assert.include(listed.stderr, "refused requests with other tokens: 1")
      for (const part of [name, "read,signal", "shop", "/data/orders", "1 access/space, 1 access/verb"]) assert.include(listed.stdout, part)
      assert.strictEqual((await run("token", "revoke", name)).code, 0)
      assert.strictEqual(await ask(cell, next), 401)
      assert.include((await run("token", "ls")).stdout, "revoked")
      assert.strictEqual((await run("token", "revoke", "sys_00000000")).code, 3)
      assert.strictEqual((await run("token", "create", "--verbs", "write", "--prefix", "/data/orders")).code, 2)
      const files = bytesBelow(join(root, ".data"))
      const { stderr, stdout } = await server.stop("SIGTERM")
      for (const secret of [token, next, ROOT]) {
        assert.notInclude([files, stderr, stdout, listed.stdout, listed.stderr].join(), secret.slice(13))
      }
    })))
})
