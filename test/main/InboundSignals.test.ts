import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Kernel, type Channel, type Space } from "systole"
import * as Embed from "systole/embed"
import socket from "systole/plugins/socket"
import { Reporter, type Told } from "../../src/diagnostic/Reporter.ts"
import { Runner } from "../../src/ingress/wire/Runner.ts"
import * as InboundSignals from "../../src/main/composition/InboundSignals.ts"
import * as Spaces from "../archive/Spaces.ts"
import { begun, enzyme } from "../kernel/TestSpace.ts"
import { LocalServers } from "../plugins/http/LocalServer.ts"
import * as TestKernel from "../support/TestKernel.ts"

const count = enzyme("count", (tx, { payload }) => {
  tx.set("/data/seen", `${String(tx.get("/data/seen") ?? "")}${(payload as { readonly text: string }).text}`)
})

const channel = { id: "wire", provider: "socket", hosts: ["node"], opcodes: {}, execute: () => ({}) } as const satisfies Channel.Channel

const signal = (n: number, text: string, path = "/signals/count") => ({ id: `wire:c1:${n}`, signal: path, payload: { text } })

const within = <A, E>(
  changed: Parameters<typeof TestKernel.layer>[0],
  body: (space: Space, ingress: Channel.Ingress, told: ReadonlyArray<Told>) => Effect.Effect<A, E, Kernel>
) => Effect.gen(function*() {
  const kernel = yield* Kernel
  yield* kernel.register(count)
  const space = yield* kernel.space("home", { create: true })
  const told: Array<Told> = []
  const reporter = new Reporter((each) => told.push(each))
  const runner = new Runner(yield* Effect.context<never>())
  const ingress = InboundSignals.make(channel, { kernel, reporter, runner })
  return yield* body(space, ingress, told)
}).pipe(Effect.provide(TestKernel.layer(changed)))

/** Runs beats until no signal waits: runs of one beat that write one cell are repeated. */
const handled = Effect.fnUntraced(function*(space: Space) {
  for (let beat = 0; beat < 10; beat++) yield* space.step
})

/** Takes signals, and runs beats until they are durable. */
const taken = Effect.fnUntraced(function*(space: Space, ingress: Channel.Ingress, signals: ReadonlyArray<Channel.InboundSignal>) {
  let result: Channel.Taken | undefined
  void ingress.take(space.name, signals).then((each) => { result = each })
  while (result === undefined) {
    yield* space.step
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
  return result
})

describe("Signals of channels", () => {
  it("N45 arrive in a runtime over its connection, before and after a restart", async () => {
    const data = mkdtempSync(join(tmpdir(), "systole-inbound-"))
    const servers = new LocalServers()
    try {
      let opened = 0
      const { port } = await servers.sockets((each) => void each.write(`${++opened}\n${opened}\nhalf`))
      const channels = {
        wire: {
          use: "socket",
          options: {
            allow: ["127.0.0.1"], connect: { host: "127.0.0.1", port },
            messages: "lines", inbound: { space: "home", signal: "/signals/count" }
          }
        }
      } as const
      for (const seen of ["11", "1122"]) {
        await using runtime = await Embed.open({
          modules: [count, socket], public: true, config: { data, channels, tempo: 1, spaces: { create: "on-demand" } }
        })
        const space = await Effect.runPromise(runtime.kernel.space("home"))
        const all = space.watch("/data/seen").pipe(Stream.takeUntil(({ value }) => value === seen), Stream.runDrain)
        await Effect.runPromise(all)
      }
      assert.strictEqual(opened, 2)
    } finally {
      await servers.close()
      rmSync(data, { recursive: true, force: true })
    }
  })

  it.effect("N45 are handled in their order, and once if they are offered again", () =>
    within({}, (space, ingress) => Effect.gen(function*() {
      const signals = ["a", "b", "c"].map((text, n) => signal(n + 1, text))
      assert.deepStrictEqual(yield* taken(space, ingress, signals), { taken: 3 })
      assert.deepStrictEqual(yield* taken(space, ingress, signals), { taken: 3 })
      yield* handled(space)
      assert.strictEqual(yield* space.get("/data/seen"), "abc")
      assert.strictEqual((yield* space.receipts("wire:c1:2")).length, 1)
    })))

  it.effect("wait at the first one that a full space refuses, and those before it are durable", () =>
    within({ limits: { ...TestKernel.settings.limits, inboxSignals: 2 } }, (space, ingress) => Effect.gen(function*() {
      const signals = ["a", "b", "c", "d"].map((text, n) => signal(n + 1, text))
      const first = yield* taken(space, ingress, signals)
      assert.deepInclude(first, { taken: 2 })
      assert.deepInclude(first.refused, { then: "wait" })
      assert.strictEqual(first.refused?.error.code, "inbox/full")
      let left = signals.slice(2)
      for (let offer = 0; left.length > 0 && offer < 20; offer++) {
        yield* handled(space)
        left = left.slice((yield* taken(space, ingress, left)).taken)
      }
      yield* handled(space)
      assert.sameMembers([...String(yield* space.get("/data/seen"))], ["a", "b", "c", "d"])
    })))

  it.effect("drop one that is no signal, and one of a space that is not there", () =>
    within({ create: "explicit" }, (space, ingress, told) => Effect.gen(function*() {
      const { refused, taken: n } = yield* taken(space, ingress, [signal(1, "a"), signal(2, "b", "no path"), signal(3, "c")])
      assert.deepStrictEqual([n, refused?.then, refused?.error.code], [1, "drop", "signal/invalid"])
      const none = yield* Effect.promise(() => ingress.take("absent", [signal(1, "a")]))
      assert.deepStrictEqual([none.taken, none.refused?.then, none.refused?.error.code], [0, "drop", "space/unknown"])
      ingress.report("io/inbound", "a note")
      assert.deepInclude(told[0], { topic: "io/inbound", note: "a note", origin: { kind: "runtime", name: "channel wire" } })
    })))

  it.effect("of the other channels arrive although the begin of one fails, which is reported", () =>
    Effect.gen(function*() {
      const begun: Array<string> = []
      const told: Array<Told> = []
      const channels = ["a", "b", "c"].map((id) => ({ ...channel, id, begin: () => {
        if (id === "b") throw new Error("no begin")
        begun.push(id)
      } }))
      const parts = {
        kernel: yield* Kernel, reporter: new Reporter((each) => told.push(each)), runner: new Runner(yield* Effect.context<never>())
      }
      yield* InboundSignals.begin(channels, parts)
      assert.deepStrictEqual(begun, ["a", "c"])
      assert.strictEqual(told.length, 1)
      assert.deepInclude(told[0], { topic: "io/connection", note: "the channel b does not begin: Error: no begin" })
    }).pipe(Effect.provide(TestKernel.layer({}))))

  it.effect("close the connection to a copy that is not released", () =>
    within({}, (space, ingress) => Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* space.step
      yield* Spaces.take(kernel, yield* Spaces.frameOf(space))
      const copy = yield* kernel.space("copy")
      yield* copy.step
      assert.isFalse(yield* Effect.promise(() => ingress.admits("copy")))
      const { refused } = yield* Effect.promise(() => ingress.take("copy", [signal(1, "a")]))
      assert.deepStrictEqual([refused?.then, refused?.error.code], ["close", "io/held"])
      yield* begun(copy, copy.control.releaseDetached())
      assert.isTrue(yield* Effect.promise(() => ingress.admits("copy")))
    })))

  it.effect("are admitted by a space that is there or may be made", () =>
    within({}, (_, ingress) => Effect.gen(function*() {
      assert.isTrue(yield* Effect.promise(() => ingress.admits("home")))
      assert.isTrue(yield* Effect.promise(() => ingress.admits("absent")))
    })))
})
