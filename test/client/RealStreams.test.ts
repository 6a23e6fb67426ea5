import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { connect, type Update } from "../../src/client/index.ts"
import { terminal } from "../cli/Terminal.ts"

const config = `export default { persistence: "sqlite", spaces: { create: "on-demand" } }\n`

describe("A stream of the client at a server of its own process", () => {
  it.live("goes on where the server is killed and starts again, and tells of a store that is another one", () =>
    Effect.flatMap(terminal({ "systole.config.ts": config }), ({ root, serve }) => Effect.promise(async () => {
      const clientOf = (url: () => string) => connect({ platform: { fetch: (path, init) => fetch(url() + path, init) } }).space("home")
      let server = await serve("start")
      const home = clientOf(() => server.url)
      await home.set("/data/n", 1)
      const ending = new AbortController()
      const updates = home.watch("/data/n", { abort: ending.signal })[Symbol.asyncIterator]()
      const next = async (): Promise<Update<unknown>> => (await updates.next()).value
      const first = await next()
      assert.deepInclude(first, { value: 1, reset: undefined })
      await server.stop("SIGKILL")
      server = await serve("start")
      await home.set("/data/n", 2)
      const second = await next()
      assert.deepInclude(second, { value: 2, reset: undefined })
      assert.notStrictEqual(second.cursor, first.cursor)
      await home.set("/data/n", 3)
      assert.deepInclude(await next(), { value: 3, reset: undefined })
      await server.stop("SIGTERM")
      rmSync(join(root, ".data"), { recursive: true })
      const other = await serve("start")
      await clientOf(() => other.url).set("/data/n", 9)
      server = other
      const { reset, value } = await next()
      assert.strictEqual(value, 9)
      assert.match(reset ?? "", /^beat \d+ is not in this space, whose newest is \d+$/)
      await home.set("/data/n", 10)
      assert.deepInclude(await next(), { value: 10, reset: undefined })
      ending.abort()
      assert.isTrue((await updates.next()).done)
    })))
})
