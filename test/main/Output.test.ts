import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Server, terminal } from "../cli/Terminal.ts"

const config = `export default { spaces: { create: "on-demand" } }\n`

/** A run whose failure is reported on standard error. */
const enzymes = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "thrower", query: "/signals/throw", run: () => { throw new Error("thrown") } })
`

const post = async (server: Server) => {
  const response = await fetch(`${server.url}/v1/spaces/home/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=60" },
    body: JSON.stringify({ signal: "/signals/throw" })
  })
  return response.status
}

describe("A server whose output has no reader", () => {
  it.live("answers, and ends when it is told to", () =>
    Effect.flatMap(terminal({ "systole.config.ts": config, "enzymes/thrower.ts": enzymes }), ({ serve }) =>
      Effect.promise(async () => {
        const server = await serve("start")
        server.closeOutput()
        for (let i = 0; i < 3; i++) assert.strictEqual(await post(server), 422)
        const { code } = await server.stop("SIGTERM")
        assert.strictEqual(code, 0)
      })))
})
