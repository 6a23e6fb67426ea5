import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers"
import type { Fetch } from "../../src/cli/Host.ts"
import * as Main from "../../src/main/Main.ts"
import { program } from "../../src/main/SourceProgram.ts"
import "../support/Bundler.ts"

const greet = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "greet", query: "/signals/greet", run: (tx) => void tx.increment("/data/greeted") })
`

/** Serves a project by a server that ends the start with a failure once these requests are answered. */
const serve = async (root: string, requests: (ask: (path: string, init?: RequestInit) => Promise<unknown>) => Promise<unknown>) => {
  let answers: unknown
  const ask = (fetch: Fetch) => async (path: string, init?: RequestInit) => {
    const response = await fetch(new Request(`http://127.0.0.1${path}`, init), () => "127.0.0.1")
    return [response.status, await response.json()]
  }
  const platform: Main.Platform = {
    turn: (run) => void setImmediate(run),
    serve: async (fetch) => {
      answers = await requests(ask(fetch))
      throw new Error("the requests are answered")
    }
  }
  const terminal: Console.Console = Object.assign(Object.create(console) as Console.Console, { log: () => {}, error: () => {} })
  const reporter = Main.reporterTo(() => {})
  await Effect.runPromiseExit(Main.execute(platform, program(root, ["start"]), { root, reporter }).pipe(
    Effect.provideService(Console.Console, terminal)
  ))
  return answers
}

describe("A server that starts", () => {
  it("answers requests from its first connection on, also before it looks for the work of its spaces", async () => {
    const root = mkdtempSync(join(tmpdir(), "systole-start-"))
    try {
      mkdirSync(join(root, "enzymes"))
      writeFileSync(join(root, "enzymes", "greet.ts"), greet)
      writeFileSync(join(root, "systole.config.ts"), `export default { spaces: { create: "on-demand" } }\n`)
      const post = {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "wait=60" },
        body: JSON.stringify({ signal: "/signals/greet" })
      }
      for (const greeted of [1, 2]) {
        const [ready, signal, cell] = await serve(root, async (ask) => [
          await ask("/readyz"), await ask("/v1/spaces/shop/signals", post), await ask("/v1/spaces/shop/cells/data/greeted")
        ]) as ReadonlyArray<readonly [number, unknown]>
        assert.strictEqual(ready?.[0], 200)
        assert.deepInclude(signal?.[1], { status: "handled" })
        assert.deepStrictEqual(cell, [200, greeted])
      }
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
