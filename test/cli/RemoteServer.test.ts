import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { terminal } from "./Terminal.ts"

const TOKEN = "sesame-opens-the-server"

const project = {
  "enzymes/count.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`,
  "systole.config.ts": `export default { token: "${TOKEN}" }\n`
}

/** An environment variable until the scope closes. */
const variable = (name: string, value: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env[name]
      process.env[name] = value
      return before
    }),
    (before) => Effect.sync(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  )

/** An HTTP server that is not Systole. */
const stranger = (answer: RequestListener = (_, response) => response.end("<h1>It works</h1>")) => Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(answer)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
)

describe("--server", () => {
  it.live("sends a command to a server elsewhere, with the token of the environment, from a folder without a project", () =>
    Effect.gen(function*() {
      const there = yield* terminal(project)
      const here = yield* terminal()
      const { url } = yield* Effect.promise(() => there.serve("start"))
      const refused = yield* Effect.promise(() => here.run("space", "ls", "--server", url))
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, "auth/missing")
      yield* variable("SYSTOLE_TOKEN", TOKEN)
      const json = (...args: ReadonlyArray<string>) => Effect.promise(() => here.json(...args, "--server", `${url}/`))
      yield* json("space", "create", "home")
      assert.deepInclude(yield* json("signal", "home", "--signal", "/signals/count", "--wait", "10"), { status: "handled" })
      assert.strictEqual(yield* json("cell", "get", "home", "/data/n"), 1)
      assert.deepStrictEqual(yield* json("space", "ls"), ["home"])
      assert.strictEqual((yield* Effect.promise(() => here.run("cell", "get", "away", "/data/n", "--server", url))).code, 3)
    }).pipe(Effect.scoped))

  it.live("says what is wrong with the address, the answer, and flags that it excludes", () =>
    Effect.gen(function*() {
      const { run } = yield* terminal(project)
      const page = yield* stranger()
      const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, code: number, ...says: ReadonlyArray<string>]> = [
        [["space", "ls", "--server", "example"], 2, "is no address", "server/url"],
        [["space", "ls", "--server", "ftp://example.org"], 2, "has the protocol ftp:", "server/url"],
        [["space", "ls", "--server", "https://example.org/?a=1"], 2, "has a query", "server/url"],
        [["space", "ls", "--server", "http://127.0.0.1:1"], 4, "http://127.0.0.1:1 does not answer", "server/unreachable"],
        [["space", "ls", "--server", page], 1, "not from a Systole server", "server/answer"],
        [["space", "ls", "--server", page, "--data", "here", "--env", "there"], 2, "Leave out --data and --env", "server/flag"],
        [["start", "--server", page], 2, "Leave out --server", "server/flag"]
      ]
      for (const [args, code, ...says] of cases) {
        const ended = yield* Effect.promise(() => run(...args))
        assert.strictEqual(ended.code, code, `${args.join(" ")}: ${ended.stderr}`)
        for (const text of says) assert.include(ended.stderr, text)
      }
      const secret = yield* Effect.promise(() => run("space", "ls", "--server", "https://ann:hunter2@example.org"))
      assert.strictEqual(secret.code, 2)
      assert.include(secret.stderr, "names a user or a password")
      assert.notInclude(secret.stderr, "hunter2")
    }).pipe(Effect.scoped))

  it.live("follows no redirection: another server would get the command, or half of it", () =>
    Effect.gen(function*() {
      const { run } = yield* terminal()
      const asked: Array<string> = []
      const other = yield* stranger(({ method, url }, response) => {
        asked.push(`${method} ${url}`)
        response.end("<h1>It works</h1>")
      })
      yield* variable("SYSTOLE_TOKEN", TOKEN)
      for (const status of [301, 307, 308]) {
        const page = yield* stranger(({ url }, response) => response.writeHead(status, { location: `${other}${url}` }).end())
        for (const args of [["space", "ls"], ["space", "create", "home"]]) {
          const ended = yield* Effect.promise(() => run(...args, "--server", page))
          assert.strictEqual(ended.code, 1, ended.stderr)
          assert.include(ended.stderr, `sends each request on to ${other}/v1/spaces`)
          assert.include(ended.stderr, "server/redirect")
        }
      }
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped))
})
