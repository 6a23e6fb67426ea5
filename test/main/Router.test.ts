import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import * as Inside from "../../src/main/workers/Inside.ts"
import type { Env, SpaceStub } from "../../src/main/workers/Platform.ts"
import * as Router from "../../src/main/workers/Router.ts"
import { make, type Parts } from "../../src/main/workers/Settings.ts"

const TOKEN = "a-token-of-some-length"

/** The names of the objects that a test woke. */
const woken: Array<string> = []

const space = (fetch: SpaceStub["fetch"]): SpaceStub => ({
  fetch,
  arrive: () => Promise.reject(new Error("not called")),
  pull: ({ address, proof }) => Promise.resolve(`${address} for ${proof.length} characters`)
})

const env = (fetch: SpaceStub["fetch"], secret: { readonly SYSTOLE_TOKEN?: string } = {}): Env => ({
  SPACES: {
    getByName: (name) => {
      woken.push(name)
      return space(fetch)
    }
  },
  DIRECTORY: {
    getByName: () => ({
      add: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      list: (_, { after, limit }) => Promise.resolve({ spaces: [`after ${after}`, `${limit}`], next: "z" })
    })
  },
  ...secret
})

const asked = async (parts: Parts, path: string, init: RequestInit & { readonly env?: Env } = {}) => {
  woken.length = 0
  const { env: given = env(async () => new Response("object")), ...rest } = init
  const gate = (env: Env) => make(parts, env)
  const inside = async (env: Env) => Inside.open(make(parts, env), env)
  const response = await Router.make({ gate, inside })(new Request(`https://worker.example${path}`, rest), given)
  const text = await response.text()
  return { status: response.status, text, code: /"code":"([^"]*)"/.exec(text)?.[1] }
}

const authorized = { headers: { authorization: `Bearer ${TOKEN}` } }
const parts: Parts = { manifest: {}, config: { token: TOKEN, pages: { "/page": async ({ get }) => String(await get("shop", "/data/a")) } } }

/** The log of a Worker during a test. */
const logged = async (run: () => Promise<void>): Promise<string> => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined)
  try {
    await run()
    return log.mock.calls.flat().join("\n")
  } finally {
    log.mockRestore()
  }
}

describe("Router of a Worker", () => {
  it("refuses to serve without a token unless it is declared public", async () => {
    const log = await logged(async () => {
      const { code, status, text } = await asked({ manifest: {} }, "/v1/spaces")
      assert.deepStrictEqual([status, code], [500, "internal"])
      assert.notInclude(text, "token")
    })
    assert.include(log, "public: true")
    assert.strictEqual((await asked({ manifest: {}, public: true }, "/v1/spaces")).status, 200)
  })

  it("takes its token from the secret, before that of the configuration", async () => {
    const given = env(async () => new Response("object"), { SYSTOLE_TOKEN: "another-token-of-some-length" })
    assert.strictEqual((await asked(parts, "/v1/spaces", { ...authorized, env: given })).status, 401)
    const headers = { authorization: "Bearer another-token-of-some-length" }
    assert.strictEqual((await asked(parts, "/v1/spaces", { headers, env: given })).status, 200)
  })

  it("wakes no object for a request without credentials, or for a name that is none", async () => {
    for (const path of ["/v1/spaces/shop", "/v1/spaces/shop/cells/data/a", "/v1/spaces/"]) {
      assert.strictEqual((await asked(parts, path)).code, "auth/missing")
    }
    for (const name of ["Shop", "-a", "a.b", "%2e%2e", "a%2Fb", "x".repeat(64), "%ff"]) {
      const { code, status } = await asked(parts, `/v1/spaces/${name}/cells/data/a`, authorized)
      assert.include(["space/name", "route/absent"], code, `${name}: ${status}`)
    }
    assert.strictEqual((await asked(parts, "/livez")).status, 200)
    assert.deepStrictEqual(woken, [])
  })

  it("is ready when its settings are valid and the directory answers, and else names the part that fails", async () => {
    assert.deepInclude(await asked(parts, "/readyz", authorized), { status: 200, text: "{\"status\":\"ready\"}" })
    const broken: Env = {
      ...env(async () => new Response("object")),
      DIRECTORY: { getByName: () => ({ add: async () => {}, remove: async () => {}, list: () => Promise.reject(new Error("reset")) }) }
    }
    const log = await logged(async () => {
      const failing = (part: string) => ({ status: 503, text: JSON.stringify({ status: "failing", part }) })
      assert.deepInclude(await asked(parts, "/readyz", { ...authorized, env: broken }), failing("directory"))
      assert.deepInclude(await asked({ manifest: {} }, "/readyz"), failing("settings"))
    })
    assert.include(log, "reset")
    // A stranger wakes no object.
    assert.deepInclude(await asked(parts, "/readyz", { env: broken }), { status: 200 })
  })

  it("passes a request to the object of its space", async () => {
    assert.deepInclude(await asked(parts, "/v1/spaces/shop/cells/data/a", authorized), { status: 200, text: "object" })
    assert.deepStrictEqual(woken, ["shop"])
  })

  it("answers 503 for an object that was reset", async () => {
    const broken = env(() => Promise.reject(new Error("broken.outputGateBroken")))
    const log = await logged(async () => {
      assert.deepInclude(await asked(parts, "/v1/spaces/shop", { ...authorized, env: broken }), { status: 503, code: "space/stopped" })
    })
    assert.include(log, "outputGateBroken")
  })

  it("lists spaces in pages, and answers for pages and unknown paths", async () => {
    assert.include((await asked(parts, "/v1/spaces?after=b&limit=5", authorized)).text, "[\"after b\",\"5\"],\"next\":\"z\"")
    assert.strictEqual((await asked(parts, "/v1/spaces?limit=x", authorized)).status, 400)
    assert.include((await asked(parts, "/page", authorized)).text, "/data/a for 64 characters")
    assert.strictEqual((await asked(parts, "/page")).status, 401)
    assert.deepInclude(await asked(parts, "/elsewhere", authorized), { status: 404, code: "route/absent" })
    assert.deepInclude(await asked(parts, "/v1/spaces", { ...authorized, method: "POST" }), { status: 404, code: "route/absent" })
  })
})
