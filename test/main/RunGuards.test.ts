import { assert, describe, it } from "@effect/vitest"
import { Effect as Eff } from "effect"
import { type Channel, Computation, Effect, Enzyme, type Event, Reactor, type Transaction, type Value } from "systole"
import { TestClock } from "effect/testing"
import { TestSpace } from "systole/testing"
import { setImmediate as turn } from "node:timers/promises"
import { replays, turns } from "../kernel/TestSpace.ts"

/** The calendar of the host, which some hosts have. */
const { Temporal } = globalThis as { readonly Temporal?: { readonly Now: { readonly instant: () => unknown } } }

/** Calls that a run must not make, by their names, with the function of the transaction to use instead. */
const calls: Readonly<Record<string, readonly [call: () => unknown, instead: string]>> = {
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
  ...Temporal === undefined ? {} : { "Temporal.Now.instant()": [() => Temporal.Now.instant(), "tx.now"] as const },
  "fetch()": [() => fetch("http://127.0.0.1:1").catch(() => {}), "tx.io.fetch"]
}

const trick = ({ payload }: Event): unknown => calls[String(payload)]?.[0]()

const query = "/signals/trick"

/** The ways to a call: at once, and after an await, an Effect or a segment. */
const ways: Readonly<Record<string, Omit<Enzyme.Definition, "name" | "query">>> = {
  "a plain run": { run: (_, event) => void trick(event) },
  "a plain run after an await": {
    run: async (_, event) => {
      await turn()
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
          assert.include(error?.message, `A run called ${name} at test/main/RunGuards.test.ts:`)
          assert.include(error?.message, instead)
        }
        await space.run(replays(space.space))
      }))
  }

  it("let other code through while runs are in progress, and after them", () => {
    const waiting = Enzyme.make({ name: "waiting", query: "/signals/wait", durable: true, run: (tx) => tx.sleep(1000) })
    const slow = Enzyme.make({ name: "slow", query, run: async () => void await turn() })
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
    const told = Effect.make({
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
