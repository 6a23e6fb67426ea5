import { assert, describe, it } from "@effect/vitest"
import { Effect as Eff } from "effect"
import { type Channel, Computation, Enzyme, type Event, Reaction, Reactor, type Transaction, type Value } from "systole"
import { TestClock } from "effect/testing"
import { TestSpace } from "systole/testing"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import process from "node:process"
import { setTimeout as wait } from "node:timers/promises"
import { replays, turns } from "../kernel/TestSpace.ts"
import * as Host from "../scripts/Host.ts"
import { foreign } from "../support/ForeignPromise.ts"

/** The objects that some hosts have. */
const { Bun, Deno, Temporal } = globalThis as {
  readonly Temporal?: { readonly Now: { readonly instant: () => unknown } }
  readonly Bun?: { readonly nanoseconds: () => unknown }
  readonly Deno?: { readonly readTextFileSync: (file: string) => unknown }
}

type Calls = Readonly<Record<string, readonly [call: () => unknown, instead: string]>>

const here = new URL(import.meta.url).pathname
const rejected = (promise: PromiseLike<unknown>): PromiseLike<unknown> => promise.then(() => {}, () => {})

/** Functions of the modules of Node, as each host lets a program change them. */
const ofModules: Calls = {
  "timers.setTimeout()": [() => clearTimeout(process.getBuiltinModule("node:timers").setTimeout(() => {}, 1)), "tx.sleep"],
  "timers/promises.setTimeout()": [() => process.getBuiltinModule("node:timers/promises").setTimeout(0), "tx.sleep"],
  "crypto.randomBytes()": [() => process.getBuiltinModule("node:crypto").randomBytes(1), "tx.random()"],
  "crypto.randomInt()": [() => process.getBuiltinModule("node:crypto").randomInt(2), "tx.random()"],
  "os.uptime()": [() => process.getBuiltinModule("node:os").uptime(), "tx.now"],
  "fs.readFileSync()": [() => process.getBuiltinModule("node:fs").readFileSync(here), "channel"],
  "fs/promises.readFile()": [() => process.getBuiltinModule("node:fs/promises").readFile(here), "channel"],
  "child_process.execFileSync()": [() => process.getBuiltinModule("node:child_process").execFileSync("true"), "channel"],
  "http.request()": [
    () => process.getBuiltinModule("node:http").request("http://127.0.0.1:1").on("error", () => {}).end(),
    "tx.io.fetch"
  ],
  "net.connect()": [() => process.getBuiltinModule("node:net").connect(1, "127.0.0.1").on("error", () => {}), "tx.io.fetch"],
  "dns/promises.lookup()": [() => rejected(process.getBuiltinModule("node:dns/promises").lookup("127.0.0.1")), "tx.io.fetch"]
}

/** The same by imports with a name. Bun changes later ones alone, and Deno none. */
const byName: Calls = Host.current() !== "node" ? {} : {
  "timers/promises.setTimeout() ": [() => wait(0), "tx.sleep"],
  "crypto.randomBytes() ": [() => randomBytes(1), "tx.random()"],
  "fs.readFileSync() ": [() => readFileSync(here), "channel"]
}

/** Calls of one host. */
const ofHost: Calls = {
  ...Temporal === undefined ? {} : { "Temporal.Now.instant()": [() => Temporal.Now.instant(), "tx.now"] as const },
  ...Bun === undefined ? {} : { "Bun.nanoseconds()": [() => Bun.nanoseconds(), "tx.now"] as const },
  ...Deno === undefined ? {} : { "Deno.readTextFileSync()": [() => Deno.readTextFileSync(here), "channel"] as const },
  ...typeof WebSocket === "undefined" ? {} : {
    "new WebSocket()": [() => new WebSocket("ws://127.0.0.1:1").close(), "tx.io.fetch"] as const
  }
}

/** Calls that a run must not make, by their names, with the function of the transaction to use instead. */
const calls: Calls = {
  "Date.now()": [() => Date.now(), "tx.now"],
  "new Date()": [() => new Date(), "tx.now"],
  "performance.now()": [() => performance.now(), "tx.now"],
  "Math.random()": [() => Math.random(), "tx.random()"],
  "crypto.randomUUID()": [() => crypto.randomUUID(), "tx.id()"],
  "crypto.getRandomValues()": [() => crypto.getRandomValues(new Uint8Array(1)), "tx.random()"],
  "setTimeout()": [() => setTimeout(() => {}, 1), "tx.sleep"],
  "setInterval()": [() => setInterval(() => {}, 1), "tx.sleep"],
  "setImmediate()": [() => setImmediate(() => {}), "tx.sleep"],
  "AbortSignal.timeout()": [() => AbortSignal.timeout(1), "tx.sleep"],
  "fetch()": [() => fetch("http://127.0.0.1:1").catch(() => {}), "tx.io.fetch"],
  "crypto.subtle.digest()": [() => crypto.subtle.digest("SHA-256", new Uint8Array()), "sha256"],
  "performance.mark()": [() => performance.mark("here"), "tx.now"],
  "process.hrtime()": [() => process.hrtime(), "tx.now"],
  "process.hrtime.bigint()": [() => process.hrtime.bigint(), "tx.now"],
  "process.uptime()": [() => process.uptime(), "tx.now"],
  ...ofModules,
  ...byName,
  ...ofHost
}

const trick = ({ payload }: Event): unknown => calls[String(payload)]?.[0]()

const query = "/signals/trick"

/** The ways to a call: at once, and after an await, an Effect or a segment. */
const ways: Readonly<Record<string, Omit<Enzyme.Definition, "name" | "query">>> = {
  "a plain run": { run: (_, event) => void trick(event) },
  "a plain run after an await": {
    run: async (_, event) => {
      await foreign()
      trick(event)
    }
  },
  "what a plain run started": { run: (_, event) => [1].map(async () => void (await Promise.resolve(), trick(event)))[0] },
  "an Effect": { run: (_, event) => Eff.sync(() => void trick(event)) },
  "an Effect that gave way": { run: (_, event) => Eff.andThen(Eff.yieldNow, Eff.sync(() => void trick(event))) },
  "the declaration of reads": { reads: (event) => [String(trick(event))], run: () => {} },
  "a durable run": { durable: true, run: (_, event) => void trick(event) },
  "a durable run after an await": {
    durable: true,
    run: async (tx: Transaction, event) => {
      await tx.sleep(0)
      trick(event)
    }
  },
  "a durable Effect after a sleep": { durable: true, run: (_, event) => Eff.andThen(Eff.sleep(0), Eff.sync(() => void trick(event))) }
}

describe("The guards of runs", () => {
  for (const [way, definition] of Object.entries(ways)) {
    it(`refuse in ${way} what no replay can repeat, and name the replacement and the place`, () =>
      TestSpace.use([Enzyme.make({ ...definition, name: "trick", query })], async (space) => {
        for (const [name, [, instead]] of Object.entries(calls)) {
          const id = await space.signal({ signal: query, payload: name })
          await space.step(2)
          const error = (await space.receipt(id))?.handlings[0]?.error
          assert.strictEqual(error?.code, "run/nondeterministic", `${name} in ${way}: ${JSON.stringify(await space.receipt(id))}`)
          assert.include(error?.message, `A run called ${name.trimEnd()} at test/main/RunGuards.test.ts:`)
          assert.include(error?.message, instead)
        }
        await space.run(replays(space.space))
      }))
  }

  it("let other code through while runs are in progress, and after them", () => {
    const waiting = Enzyme.make({ name: "waiting", query: "/signals/wait", durable: true, run: (tx) => tx.sleep(1000) })
    const slow = Enzyme.make({ name: "slow", query, run: async () => void await foreign() })
    return TestSpace.use([waiting, slow], async (space) => {
      await space.signal({ signal: "/signals/wait" })
      await space.signal({ signal: query })
      const stepped = space.step()
      for (const [call] of Object.values(calls)) await call()
      await stepped
      for (const [call] of Object.values(calls)) await call()
    })
  })

  it("refuse nothing to values that are delivered, and everything to the nodes that make them", () => {
    const given: Array<unknown> = []
    const wrong = Computation.make({ name: "wrong", output: "/data/wrong", run: (tx) => Number(tx.get("/data/one")) + Date.now() })
    const told = Reaction.make({
      name: "told",
      read: (tx) => [tx.get("/data/one"), tx.get("/data/wrong")] as unknown as Value,
      deliver: (value) => void given.push(value, Date.now() > 0)
    })
    const put = Enzyme.make({ name: "put", query, run: (tx) => tx.set("/data/one", 1) })
    return TestSpace.use([put, wrong, told], async (space) => {
      await space.handled({ signal: query })
      await space.idle()
      assert.include(given, true)
      assert.include(space.facts.map(({ code }) => code), "run/nondeterministic")
    })
  })

  it("refuse nothing to a channel, also while a run waits for it", () => {
    const asking = Enzyme.make({
      name: "asking",
      query,
      durable: true,
      run: async (tx: Transaction) => (await tx.io.request({ channel: "clock", opcode: "ask" })).value
    })
    const clock: Channel.Channel = {
      id: "clock",
      provider: "clock",
      hosts: ["node", "deno", "bun"],
      opcodes: { ask: { repeatable: true } },
      execute: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        return { value: typeof Date.now() + typeof Math.random() }
      }
    }
    return TestSpace.use([asking], async (space) => {
      const id = await space.signal({ signal: query })
      await space.step()
      await space.until(space.space.settled(id))
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "numbernumber", JSON.stringify(space.facts))
    }, { reactor: Reactor.native([clock]) })
  })

  it("let the host load code while a run is in progress", () => {
    const loading = Enzyme.make({
      name: "loading",
      query,
      run: () => typeof process.getBuiltinModule("node:module").createRequire(import.meta.url)("../language/best.json")
    })
    return TestSpace.use([loading], async (space) => {
      const { handlings: [handling] } = await space.handled({ signal: query })
      assert.strictEqual(handling?.value, "object", JSON.stringify(handling))
    })
  })

  it("leave dates of a given time as they are", () => {
    class Day extends Date {
      get day(): number {
        return this.getUTCDate()
      }
    }
    const dates = Enzyme.make({
      name: "dates",
      query,
      run: (tx) => {
        const [date, day] = [new Date(tx.now + 86_400_000), new Day(tx.now + 86_400_000)]
        return [date.toISOString(), Date.parse("1970-01-02"), Date.UTC(1970, 0, 2), day.day, day instanceof Date, date.constructor === Date]
      }
    })
    return TestSpace.use([dates], async (space) => {
      const { handlings: [handling] } = await space.handled({ signal: query })
      assert.deepStrictEqual(handling?.value, ["1970-01-02T00:00:00.000Z", 86_400_000, 86_400_000, 2, true, true])
      assert.instanceOf(new Date(), Date)
      assert.isString(Date())
    })
  })

  it("hold for a run that its time limit ended", async () => {
    const held = Promise.withResolvers<void>()
    const ends: Array<unknown> = []
    const late = Enzyme.make({
      name: "late",
      query,
      run: async () => {
        await held.promise
        try {
          ends.push(Date.now())
        } catch (error) {
          ends.push((error as { readonly code: string }).code)
        }
      }
    })
    await TestSpace.use([late], async (space) => {
      const id = await space.signal({ signal: query })
      const stepped = space.step()
      await space.run(turns())
      await space.run(TestClock.adjust(1000))
      await stepped
      held.resolve()
      await space.run(turns())
      assert.deepStrictEqual(ends, ["run/nondeterministic"], JSON.stringify(await space.receipt(id)))
    })
  })
})
