import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const greet = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "greet", query: "/signals/greet/:who", run: (tx, event) => void tx.append("/data/greeted", event.params.who) })
`
const stuck = `import { Enzyme } from "systole"
await new Promise(() => {})
export default Enzyme.make({ name: "stuck", query: "/signals/stuck", run: (tx) => void tx.increment("/data/stuck") })
`
const config = `export default { spaces: { create: "on-demand" }, limits: { moduleMillis: 1000 } }\n`

type Terminal = Effect.Success<ReturnType<typeof terminal>>

/** A test in a project of its own, with the time that processes take. */
const test = (name: string, files: Readonly<Record<string, string>>, run: (terminal: Terminal) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(terminal(files), (terminal) => Effect.promise(() => run(terminal))), 60_000)

const ask = async (url: string, path: string, init: RequestInit = {}) => {
  const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(20_000) })
  return { status: response.status, body: await response.json() as Record<string, unknown> }
}

describe("systole start", () => {
  test("listens though the top level of a module never settles, and names that module", { "systole.config.ts": config, "enzymes/greet.ts": greet, "enzymes/stuck.ts": stuck }, async ({ serve }) => {
    const server = await serve("start")
    assert.deepStrictEqual(await ask(server.url, "/livez"), { status: 200, body: { status: "live" } })
    const { stderr } = await server.stop("SIGTERM")
    assert.match(stderr, /^sev:crit module\/broken: Module enzymes\/stuck\.ts is not loaded: its top level did not settle within 1000 ms/m)
  })
})
