import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { serverCertificate, serverKey } from "../plugins/http/Certificates.ts"
import { served } from "./ForeignServer.ts"
import { terminal } from "./Terminal.ts"

const TOKEN = "sesame-opens-the-server"

const project = {
  "enzymes/count.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`,
  "systole.config.ts": `export default { token: "${TOKEN}" }\n`
}

/** The address of a server with TLS, whose certificate no host trusts, until the scope closes. */
const untrustedServer = Effect.acquireRelease(
  Effect.promise(() => {
    const server = createSecureServer({ key: serverKey, cert: serverCertificate })
    return new Promise<typeof server>((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)))
  }),
  (server) => Effect.sync(() => void server.close())
).pipe(Effect.map((server) => `https://127.0.0.1:${(server.address() as AddressInfo).port}`))

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

/** The same project with a reader. */
const guarded = {
  ...project,
  "systole.config.ts": `export default {
  token: "${TOKEN}",
  labels: { cells: {}, readers: { ann: { token: "a-token-of-a-reader", clearance: [] } } }
}
`
}

/** An HTTP server that is not Systole. */
const stranger = (answer: RequestListener = (_, response) => response.end("<h1>It works</h1>")) => served(answer)

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
      assert.deepInclude(yield* json("signal", "home", "--signal", "/signals/count", "--wait", "60"), { status: "handled" })
      assert.strictEqual(yield* json("cell", "get", "home", "/data/n"), 1)
      assert.deepStrictEqual(yield* json("space", "ls"), ["home"])
      assert.strictEqual((yield* Effect.promise(() => here.run("cell", "get", "away", "/data/n", "--server", url))).code, 3)
    }).pipe(Effect.scoped))

  it.live("says what is wrong with the address, the answer, and flags that it excludes", () =>
    Effect.gen(function*() {
      const { run } = yield* terminal(project)
      const page = yield* stranger()
      const untrusted = yield* untrustedServer
      const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, code: number, ...says: ReadonlyArray<string>]> = [
        [["space", "ls", "--server", "example"], 2, "is no address", "server/url"],
        [["space", "ls", "--server", "ftp://example.org"], 2, "has the protocol ftp:", "server/url"],
        [["space", "ls", "--server", "https://example.org/?a=1"], 2, "has a query", "server/url"],
        [["space", "ls", "--server", "http://127.0.0.1:1"], 4, "http://127.0.0.1:1 does not answer", "server/unreachable"],
        [["space", "ls", "--server", untrusted], 4, "does not answer: ", "certificate", "server/unreachable"],
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

  it.live("ends at an answer of another form, and at a cursor that does not advance", () =>
    Effect.gen(function*() {
      const { run } = yield* terminal()
      const replayed = { from: 0, beats: 1, changed: [], next: 4 }
      const answers: ReadonlyArray<readonly [args: ReadonlyArray<string>, answer: unknown, says: string]> = [
        [["space", "ls"], { spaces: ["a"] }, "without \"spaces\" and \"next\""],
        [["space", "ls"], { spaces: "a", next: null }, "without \"spaces\""],
        [["space", "ls"], null, "without \"spaces\""],
        [["space", "ls"], { spaces: ["a"], next: "a" }, "the cursor \"a\" of a page that was there"],
        [["space", "ls"], { spaces: [], next: "" }, "the cursor \"\""],
        [["space", "waiting", "home"], {}, "without \"waiting\""],
        [["cell", "ls", "home"], { cells: null }, "without \"cells\""],
        [["op", "ls", "home"], { operations: [{ oid: "1" }], next: "1" }, "the cursor \"1\""],
        [["replay", "home"], replayed, "part 4 of a replay"]
      ]
      for (const [args, answer, says] of answers) {
        const page = yield* stranger((_, response) => response.end(JSON.stringify(answer)))
        const ended = yield* Effect.promise(() => run(...args, "--server", page))
        assert.strictEqual(ended.code, 1, `${args.join(" ")}: ${ended.stderr}`)
        assert.include(ended.stderr, says)
        assert.include(ended.stderr, "server/answer")
      }
    }).pipe(Effect.scoped))

  it.live("refuses a token that no header carries, and shows none of it", () =>
    Effect.gen(function*() {
      const { run } = yield* terminal()
      for (const secret of ["a-token-with-\u2013-a-dash", "a-token-with\na-line", "short", "hunter2 ".repeat(3)]) {
        yield* variable("SYSTOLE_TOKEN", secret)
        const ended = yield* Effect.promise(() => run("space", "ls", "--server", "http://127.0.0.1:1"))
        assert.strictEqual(ended.code, 2, ended.stderr)
        assert.include(ended.stderr, "SYSTOLE_TOKEN is no token: a token has 16 to 512 visible ASCII characters")
        assert.include(ended.stderr, "auth/missing")
        assert.notInclude(ended.stderr, secret.split(/\s/)[0]!)
      }
    }).pipe(Effect.scoped))

  it.live("shows a watching reader its cursor in place of the beat", () =>
    Effect.gen(function*() {
      const there = yield* terminal(guarded)
      const here = yield* terminal()
      const { url } = yield* Effect.promise(() => there.serve("start"))
      yield* variable("SYSTOLE_TOKEN", TOKEN)
      const json = (...args: ReadonlyArray<string>) => Effect.promise(() => here.json(...args, "--server", url))
      yield* json("space", "create", "home")
      const { beat } = (yield* json("cell", "set", "home", "/data/n", "1")) as { readonly beat: number }
      const watch = ["cell", "watch", "home", "/data/n", "--times", "1"]
      assert.deepStrictEqual(yield* json(...watch), { beat, value: 1 })
      yield* variable("SYSTOLE_TOKEN", "a-token-of-a-reader")
      const seen = (yield* json(...watch)) as { readonly cursor: string; readonly value: unknown }
      assert.match(seen.cursor, /^[0-9a-f]{16}$/)
      assert.deepStrictEqual(seen, { cursor: seen.cursor, value: 1 })
      const { stdout } = yield* Effect.promise(() => here.run(...watch, "--server", url))
      assert.match(stdout, /^[0-9a-f]{16} {2}1\n$/)
    }).pipe(Effect.scoped))
})
