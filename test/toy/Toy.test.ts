import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { readdirSync } from "node:fs"
import { Slices } from "systole"
import * as Cli from "../../src/cli/command/Cli.ts"
import { Host } from "../../src/cli/Host.ts"
import { Disk } from "../../src/cli/Disk.ts"
import { ofLedger } from "../../src/ingress/route/Slice.ts"
import { Hash } from "../../src/persistence/Hash.ts"
import * as Routes from "../docs/Routes.ts"
import { problem, serve, type TestIngress } from "../ingress/TestIngress.ts"
import { present } from "../support/Present.ts"
import { make, World } from "./Ledger.ts"
import { outside } from "./Outside.ts"
import * as StreamText from "../support/StreamText.ts"

// The one line that adds a ledger to a runtime.
const toy = ofLedger("toy", { ledger: () => make(new World()), outside })

const slices = [...Slices.all, toy]

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ slices }), (app) =>
    Effect.andThen(app.kernel.space("shop", { create: true }), Effect.promise(() => run(app)))))

const alarms = "/v1/spaces/shop/toys"

/** Runs a command line of a program with these slices, against an application. */
const systole = async ({ app }: TestIngress, ...args: ReadonlyArray<string>): Promise<{ readonly code: number; readonly out: string }> => {
  let out = ""
  const print = (...parts: ReadonlyArray<unknown>) => void (out += `${parts.join(" ")}\n`)
  const terminal: Console.Console = Object.assign(Object.create(console) as Console.Console, { log: print, error: print })
  const project = { fetch: app.fetch, localToken: undefined, found: {}, closeStreams: () => {} }
  const host = Layer.mergeAll(
    Layer.succeed(Host, {
      root: import.meta.dirname,
      config: () => Effect.succeed({ data: ".none" }),
      open: () => Effect.succeed(project)
    } as never),
    Layer.succeed(Disk, { read: () => Effect.succeed(undefined) } as never),
    Layer.succeed(Hash, undefined as never)
  )
  const code = await Effect.runPromise(Cli.run({ args, version: "0", plugins: Effect.succeed([]), slices }).pipe(
    Effect.provideService(Console.Console, terminal),
    Effect.provide(host.pipe(Layer.provideMerge(NodeServices.layer)))
  ) as Effect.Effect<number>)
  return { code, out }
}

describe("A ledger with a folder and one line", () => {
  it("takes the files of its folder: port and state, errors, schemas, face, outside", () => {
    const files = readdirSync(import.meta.dirname).filter((file) => !file.endsWith(".test.ts"))
    assert.deepStrictEqual(files.toSorted(), ["AlarmError.ts", "Face.ts", "Ledger.ts", "Outside.ts", "Schemas.ts"])
  })

  test("has its part of the API of a space", async ({ kernel }) => {
    await Effect.runPromise(Effect.gen(function*() {
      const space = yield* kernel.space("shop", { create: true })
      assert.deepInclude(yield* space.toys.arm({ key: "tea", beats: 100 }), { key: "tea" })
      assert.deepInclude(yield* space.toys.get("tea"), { key: "tea", state: "armed", asked: 0 })
      assert.deepInclude(yield* space.toys.cancel("tea"), { key: "tea" })
      // Commands of one beat follow each other.
      const both = [space.toys.arm({ key: "egg", beats: 100 }), space.toys.cancel("egg")] as const
      const [armed, cancelled] = yield* Effect.all(both, { concurrency: "unbounded" })
      assert.strictEqual(cancelled.beat, armed.beat)
      const { alarms, next } = yield* space.toys.list({ limit: 10 })
      assert.deepStrictEqual([alarms.map(({ key, state }) => [key, state]), next], [[["egg", "done"], ["tea", "done"]], undefined])
      assert.strictEqual((yield* Effect.flip(space.toys.cancel("none")))._tag, "AlarmAbsent")
    }))
  })

  test("has its routes with bodies, pages and refusals, and streams of its records", async ({ accidents, ask, fetch, post }) => {
    const armed = await post(alarms, { key: "tea", beats: 100 })
    assert.deepStrictEqual([armed.status, armed.headers.get("location")], [201, `${alarms}/tea`])
    const stream = present((await fetch(`${alarms}/tea`, { headers: { accept: "text/event-stream" } })).body)
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
    await post(`${alarms}/tea/cancel`, undefined)
    await StreamText.until(reader, "\"state\":\"done\"")
    await reader.cancel()
    assert.deepInclude((await ask(`${alarms}/tea`)).body, { key: "tea", state: "done" })
    assert.deepInclude((await ask(`${alarms}?limit=1`)).body, { next: null })
    assert.deepStrictEqual(problem(await ask(`${alarms}/none`)), [404, "toy/absent"])
    for (const refused of [{ key: "tea", beats: 0 }, { key: "tea", beats: 1.5 }, { key: "a/b", beats: 1 }, { key: "", beats: 1 }]) {
      assert.deepStrictEqual(problem(await post(alarms, refused)), [400, "toy/refused"])
    }
    assert.deepStrictEqual(problem(await ask(`${alarms}/a%2Fb`)), [404, "toy/absent"])
    assert.deepStrictEqual(problem(await post(alarms, { key: "tea", beats: "soon" })), [400, "body/malformed"])
    assert.strictEqual((await ask(alarms, { method: "DELETE" })).status, 405)
    assert.deepStrictEqual(accidents, [])
  })

  test("has a command with its verbs, and the exit codes of its refusals", async (app) => {
    assert.deepStrictEqual(await systole(app, "toy", "arm", "shop", "tea", "--beats", "100"), { code: 0, out: "armed tea in beat 0\n" })
    assert.deepStrictEqual(await systole(app, "toy", "ls", "shop"), { code: 0, out: "tea  armed\n" })
    assert.include((await systole(app, "toy", "show", "shop", "tea")).out, "tea armed since beat 0, asked 0 times")
    const { code, out } = await systole(app, "toy", "cancel", "shop", "none")
    assert.deepStrictEqual([code, out], [3, "There is no alarm \"none\". Arm it first (toy/absent)\n"])
  })

  test("has a group of its own in the reference, with a row for each of its endpoints", async ({ app }) => {
    const [, rows] = present(Routes.sections(app.table.endpoints).find(([title]) => title === "Toys"))
    assert.deepStrictEqual(rows.map(([request]) => request), [
      "`GET …/toys`", "`GET …/toys/:key`", "`POST …/toys`", "`POST …/toys/:key/cancel`"
    ])
  })
})
