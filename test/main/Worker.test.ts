import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import * as Worker from "../../src/main/worker.ts"

const ask = async (worker: ReturnType<typeof Worker.make>, headers: Readonly<Record<string, string>> = {}) => {
  const response = await worker.fetch(new Request("https://worker.example/v1/spaces", { headers }))
  return { status: response.status, body: await response.json() as { readonly code?: string; readonly detail?: string } }
}

/** The log of a worker during a test. */
const logged = async (run: () => Promise<void>): Promise<string> => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined)
  try {
    await run()
    return log.mock.calls.flat().join("\n")
  } finally {
    log.mockRestore()
  }
}

describe("worker", () => {
  it("refuses to start without a token unless it is declared public", async () => {
    const worker = Worker.make({ manifest: {} })
    const log = await logged(async () => {
      for (let i = 0; i < 2; i++) {
        const { body, status } = await ask(worker)
        assert.deepStrictEqual([status, body.code], [500, "internal"])
        assert.notInclude(body.detail, "token")
      }
    })
    assert.strictEqual(log.split("public: true").length, 3)
    assert.strictEqual((await ask(Worker.make({ manifest: {}, public: true }))).status, 200)
  })

  it("requires its token", async () => {
    const worker = Worker.make({ manifest: {}, config: { token: "a-token-of-some-length" } })
    assert.strictEqual((await ask(worker)).status, 401)
    assert.strictEqual((await ask(worker, { authorization: "Bearer a-token-of-some-length" })).status, 200)
  })
})
