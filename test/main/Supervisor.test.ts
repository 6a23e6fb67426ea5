import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hosts } from "../scripts/Host.ts"
import { terminal } from "../cli/Terminal.ts"

/** Runs that end their process. */
const taker = `import { Enzyme } from "systole"

export default Enzyme.make({
  name: "taker",
  query: "/signals/take/:what",
  limitMs: 300,
  run: (tx, event) => {
    if (event.params.what === "exit") process.exit(0)
    while (event.params.what === "loop") continue
    tx.increment("/data/taken")
  }
})
`

const files = {
  "systole.config.ts": "export default { tempo: 1, limits: { stuckMillis: 300 } }\n",
  "enzymes/taker.ts": taker.replace("limitMs: 300", "trusted: true,\n  limitMs: 300")
}

interface Started {
  readonly url: string
  readonly pid: number
}

/** Sends a signal that is durable before it runs, and waits for the end of one that does not end its process. */
const post = async (url: string, what: string) => {
  const { status } = await fetch(`${url}/v1/spaces/shop/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", ...what === "good" ? { prefer: "wait=60" } : {} },
    body: JSON.stringify({ signal: `/signals/take/${what}`, at: { ms: what === "good" ? 0 : 300 } })
  })
  assert.strictEqual(status, what === "good" ? 200 : 202)
}

/** The codes of the dead letters, after a further beat. */
const codes = async (url: string) => {
  await post(url, "good")
  const { letters } = await (await fetch(`${url}/v1/spaces/shop/dead`)).json() as {
    readonly letters: ReadonlyArray<{ readonly code: string }>
  }
  return letters.map(({ code }) => code)
}

describe("systole dev", () => {
  for (const host of hosts) {
    it.live(`starts again after its watchdog ended it, until the run is a dead letter, on ${host}`, () =>
      Effect.flatMap(terminal(files), ({ serveBy }) =>
        Effect.promise(async () => {
          const server = await serveBy({ host })("dev")
          await post(server.url, "loop")
          const second = await server.next() as Started
          assert.notStrictEqual(second.pid, server.pid)
          const third = await server.next() as Started
          assert.deepStrictEqual(await codes(third.url), ["run/stuck"])
          process.kill(server.started, "SIGTERM")
          const { code, stderr } = await server.ended
          assert.strictEqual(code, 0)
          const why = /The watchdog ended systole dev: shop@\d+ taker: event \S+ did not return within its limit\. It starts again\n/g
          assert.lengthOf(stderr.match(why) ?? [], 2, stderr)
          assert.match(stderr, /\nstopped\n$/)
        })))
  }

  it.live("starts again after a run ended the process", () =>
    Effect.flatMap(terminal(files), ({ serve }) =>
      Effect.promise(async () => {
        const server = await serve("dev")
        await post(server.url, "exit")
        await server.next()
        const { pid, url } = await server.next() as Started
        assert.deepStrictEqual(await codes(url), ["run/stuck"])
        process.kill(pid, "SIGTERM")
        const { code, stderr } = await server.ended
        assert.strictEqual(code, 0)
        assert.match(stderr, /The watchdog ended systole dev: shop@\d+ taker: event \S+ ended the process\. It starts again\n/)
      })))

  it.live("starts again after so many reloads, whose modules no host unloads", () =>
    Effect.flatMap(terminal({ ...files, "systole.config.ts": "export default { limits: { reloads: 2 } }\n" }), ({ serve, write }) =>
      Effect.promise(async () => {
        const server = await serve("dev")
        await post(server.url, "good")
        for (const step of [2, 3]) {
          write("enzymes/taker.ts", files["enzymes/taker.ts"].replace("\"/data/taken\"", `"/data/taken", ${step}`))
          assert.property(await server.next(), "millis")
        }
        const second = await server.next() as Started
        assert.notStrictEqual(second.pid, server.pid)
        assert.strictEqual(second.url, server.url, "clients come again to its address")
        await post(second.url, "good")
        const taken = await fetch(`${second.url}/v1/spaces/shop/cells/data/taken`)
        assert.strictEqual(await taken.text(), "4")
        // The second process reloads, too.
        write("enzymes/taker.ts", files["enzymes/taker.ts"])
        assert.property(await server.next(), "millis")
        process.kill(second.pid, "SIGTERM")
        const { code, stderr } = await server.ended
        assert.strictEqual(code, 0)
        assert.include(stderr, "systole dev has reloaded 2 times, and no host unloads the modules that were replaced. It starts again\n")
      })))

  it.live("goes on after so many reloads with a project in memory, which another process would not have", () => {
    const config = "export default { persistence: \"memory\", limits: { reloads: 2 } }\n"
    return Effect.flatMap(terminal({ ...files, "systole.config.ts": config }), ({ serve, write }) => Effect.promise(async () => {
      const server = await serve("dev")
      await post(server.url, "good")
      for (const step of [2, 3, 4]) {
        write("enzymes/taker.ts", files["enzymes/taker.ts"].replace("\"/data/taken\"", `"/data/taken", ${step}`))
        assert.property(await server.next(), "millis")
      }
      await post(server.url, "good")
      assert.strictEqual(await (await fetch(`${server.url}/v1/spaces/shop/cells/data/taken`)).text(), "5")
      process.kill(server.pid, "SIGTERM")
      assert.deepInclude(await server.ended, { code: 0 })
    }))
  })

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.live(`stops once with its supervisor by ${signal}, whichever of them gets it`, () =>
      Effect.flatMap(terminal(files), ({ serve }) =>
        Effect.promise(async () => {
          const { ended, pid, started } = await serve("dev")
          // A terminal sends it to both.
          process.kill(pid, signal)
          process.kill(started, signal)
          const { code, stderr } = await ended
          assert.deepStrictEqual([code, stderr], [0, "stopped\n"])
        })))
  }

  it.live("does not outlive its supervisor", () =>
    Effect.flatMap(terminal(files), ({ serve }) =>
      Effect.promise(async () => {
        const { ended, started } = await serve("dev")
        process.kill(started, "SIGKILL")
        // The outputs are closed when the last process that has them has ended.
        assert.strictEqual((await ended).stderr, "stopped\n")
      })))
})
