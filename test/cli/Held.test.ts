import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const greet = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "greet",
  query: "/signals/greet/:who",
  run: (tx, event) => void tx.append("/data/greeted", event.params.who)
})
`
const stuck = `import { Enzyme } from "systole"
await new Promise(() => {})
export default Enzyme.make({ name: "stuck", query: "/signals/stuck", run: (tx) => void tx.increment("/data/stuck") })
`
const config = `export default { spaces: { create: "on-demand" } }\n`

/** The configuration for a module that never settles. Others may take longer on a busy machine. */
const hasty = `export default { spaces: { create: "on-demand" }, limits: { moduleMillis: 1000 } }\n`

type Terminal = Effect.Success<ReturnType<typeof terminal>>

/** Defines a test in a temporary project, with a time-out for child processes. */
const test = (name: string, files: Readonly<Record<string, string>>, run: (terminal: Terminal) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(terminal(files), (terminal) => Effect.promise(() => run(terminal))))

const ask = async (url: string, path: string, init: RequestInit = {}) => {
  const response = await fetch(url + path, init)
  return { status: response.status, body: await response.json() as Record<string, unknown> }
}

describe("systole start", () => {
  test("listens although the top level of a module never settles, and names the module", {
    "systole.config.ts": hasty,
    "enzymes/greet.ts": greet,
    "enzymes/stuck.ts": stuck
  }, async ({ serve }) => {
    const server = await serve("start")
    assert.deepStrictEqual(await ask(server.url, "/livez"), { status: 200, body: { status: "live" } })
    const { stderr } = await server.stop("SIGTERM")
    assert.match(stderr, /^sev:crit module\/broken: Module enzymes\/stuck\.ts is not loaded: its top level did not settle within 1000 ms/m)
  })

  const peek = `import { Enzyme } from "systole"
let length, failure
try {
  length = process.getBuiltinModule("node:fs").readFileSync("/etc/passwd", "utf8").length
} catch (error) {
  failure = error
}
export default Enzyme.make({
  name: "peek",
  query: "/signals/peek",
  run: () => {
    if (failure !== undefined) throw failure
    return length
  }
})
`
  const peeking = { "systole.config.ts": config, "enzymes/greet.ts": greet, "enzymes/peek.ts": peek }
  const isNode = process.versions["bun"] === undefined && process.versions["deno"] === undefined

  test("under --permission denies modules the files outside the project, and stores spaces in SQLite as usual", peeking, async ({
    run,
    serve
  }) => {
    if (!isNode) return assert.strictEqual((await run("start", "--permission")).code, 2)
    const handled = async (...args: ReadonlyArray<string>) => {
      const server = await serve("start", ...args)
      const post = async (signal: string) => (await ask(server.url, "/v1/spaces/shop/signals", {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "wait=60" },
        body: JSON.stringify({ signal })
      })).body
      const [greeted, peeked] = [await post("/signals/greet/ann"), await post("/signals/peek")]
      const { body: cell } = await ask(server.url, "/v1/spaces/shop/cells/data/greeted")
      await server.stop("SIGTERM")
      return { greeted: greeted["status"], peeked: peeked["code"] ?? peeked["status"], why: JSON.stringify(peeked), cell }
    }
    const open = await handled()
    assert.deepInclude(open, { greeted: "handled", peeked: "handled" })
    const confined = await handled("--permission")
    assert.deepInclude(confined, { greeted: "handled", peeked: "run/failed" })
    assert.include(confined.why, "Access to this API has been restricted")
    assert.deepStrictEqual(confined.cell as unknown, ["ann", "ann"])
  })

  test("--hold accepts the signals of a space and runs none of its beats until release, and runs other spaces", {
    "systole.config.ts": config,
    "enzymes/greet.ts": greet
  }, async ({ json, serve }) => {
    const first = await serve("start")
    await json("signal", "shop", "--signal", "/signals/greet/ann", "--wait", "60")
    await first.stop("SIGTERM")
    const server = await serve("start", "--hold", "shop", "--hold", "market")
    const newest = async (space: string) =>
      (await ask(server.url, `/v1/spaces/${space}/beats?limit=1`)).body["beats"] as ReadonlyArray<{ readonly beat: number }>
    const before = await newest("shop")
    const { id, status } =
      await json("signal", "shop", "--signal", "/signals/greet/bob") as { readonly id: string; readonly status?: string }
    assert.isUndefined(status)
    assert.deepInclude(await json("signal", "other", "--signal", "/signals/greet/eve", "--wait", "60") as object, { status: "handled" })
    assert.deepStrictEqual(await newest("shop"), before)
    assert.deepInclude(await json("space", "state", "shop") as object, { held: true })
    assert.deepInclude((await ask(server.url, "/v1/spaces/shop/control/release", { method: "POST" })).body, { held: false })
    assert.deepInclude(
      (await ask(server.url, `/v1/spaces/shop/receipts/${id}`, { headers: { prefer: "wait=60" } })).body,
      { status: "handled" }
    )
    assert.deepStrictEqual(await json("cell", "get", "shop", "/data/greeted"), ["ann", "bob"])
  })

  test("--disable leaves an enzyme out and holds the signals that only it handles, until a start with it", {
    "systole.config.ts": config,
    "enzymes/greet.ts": greet
  }, async ({ json, serve }) => {
    const without = await serve("start", "--disable", "greet", "--disable", "nobody")
    const { id } = await json("signal", "shop", "--signal", "/signals/greet/ann") as { readonly id: string }
    assert.deepInclude(await json("signal", "shop", "--signal", "/signals/unheard", "--wait", "60").catch(String) as string, "no-match")
    assert.deepInclude((await ask(without.url, `/v1/spaces/shop/receipts/${id}`)).body, { status: "pending" })
    const [held] = await json("space", "waiting", "shop") as ReadonlyArray<object>
    assert.deepInclude(held, { id, signal: "/signals/greet/ann", why: "held", code: "enzyme/held", enzymes: ["greet"] })
    const { stderr } = await without.stop("SIGTERM")
    assert.match(stderr, /^sev:warn enzyme\/held shop greet: /m)
    assert.include(stderr, "no enzyme is called \"nobody\"")
    const whole = await serve("start")
    assert.deepInclude(
      (await ask(whole.url, `/v1/spaces/shop/receipts/${id}`, { headers: { prefer: "wait=60" } })).body,
      { status: "handled" }
    )
    assert.deepStrictEqual(await json("cell", "get", "shop", "/data/greeted"), ["ann"])
  })

  test("holds the signals of a module that no longer loads", {
    "systole.config.ts": config,
    "enzymes/greet.ts": greet
  }, async ({ json, serve, write }) => {
    const whole = await serve("start")
    await json("signal", "shop", "--signal", "/signals/greet/ann", "--wait", "60")
    await whole.stop("SIGTERM")
    write("enzymes/greet.ts", stuck)
    write("systole.config.ts", hasty)
    const broken = await serve("start")
    const { id } = await json("signal", "shop", "--signal", "/signals/greet/bob") as { readonly id: string }
    assert.deepInclude(
      (await ask(broken.url, `/v1/spaces/shop/receipts/${id}`, { headers: { prefer: "wait=1" } })).body,
      { status: "pending" }
    )
    await broken.stop("SIGTERM")
    write("enzymes/greet.ts", greet)
    write("systole.config.ts", config)
    const mended = await serve("start")
    assert.deepInclude(
      (await ask(mended.url, `/v1/spaces/shop/receipts/${id}`, { headers: { prefer: "wait=60" } })).body,
      { status: "handled" }
    )
    assert.deepStrictEqual(await json("cell", "get", "shop", "/data/greeted"), ["ann", "bob"])
  })

  test("is live while a store is damaged, and /readyz names the space, the store and the reason", {
    "systole.config.ts": config,
    "enzymes/greet.ts": greet
  }, async ({ json, serve, write }) => {
    write(".data/torn.sqlite", "no database at all".repeat(100))
    const server = await serve("start")
    assert.deepInclude(await json("signal", "shop", "--signal", "/signals/greet/ann", "--wait", "60") as object, { status: "handled" })
    assert.strictEqual((await ask(server.url, "/livez")).status, 200)
    const { body, status } = await ask(server.url, "/readyz")
    assert.strictEqual(status, 503)
    const [stop] = body["stopped"] as ReadonlyArray<Record<string, string>>
    assert.deepInclude(stop, { space: "torn", code: "store/damaged" })
    assert.match(stop!["store"]!, /torn\.sqlite$/)
    assert.include(stop!["reason"], "not an SQLite database")
  })
})
