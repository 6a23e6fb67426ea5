import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as SpaceClients from "../../plugins/agent/order/SpaceClient.ts"
import * as Record from "../../plugins/agent/order/Record.ts"
import * as HttpSpaceClient from "../../plugins/agent/commands/HttpSpaceClient.ts"
import { Client } from "../../src/cli/Client.ts"
import { test } from "../ingress/TestIngress.ts"

const COUNT = 1_000

test("the records of 1,000 actions are read in a few requests, also where they are large", async ({ ask, kernel }) => {
  const asked: Array<string> = []
  const client = Client.of({
    ask: <Answer>(path: string, { method = "GET" } = {}) => {
      asked.push(`${method} ${path}`)
      return Effect.promise(async () => (await ask(path, { method })).body as Answer)
    },
    bytes: () => Effect.die("no bytes"),
    events: () => {
      throw new Error("no stream")
    }
  })
  const space = await Effect.runPromise(kernel.space("agent", { create: true }))
  const written = Array.from({ length: COUNT }, (_, i) => ({
    action: `a${i}`, event: "e", occurrence: "o", attempt: 1, attempts: 1, status: "completed" as const, startedAt: i, pendings: 1,
    output: "x".repeat(3_000)
  }))
  const write = (record: Record.Record) => space.set(Record.cell("file", record.action), record)
  await Effect.runPromise(Effect.forEach(written, write, { concurrency: "unbounded" }))
  await Effect.runPromise(space.set(`${Record.cell("file", "a1")}/below`, "no record"))
  const records = await Effect.runPromise(
    SpaceClients.records("file").pipe(Effect.provide(HttpSpaceClient.layer("agent")), Effect.provideService(Client, client))
  )
  assert.deepStrictEqual([...records.values()].toSorted((a, b) => a.startedAt - b.startedAt), written)
  assert.isAtMost(asked.length, 8)
})

test("an event that its server keeps pending is asked for until the time of its attempt is over", async () => {
  const asked: Array<number> = []
  const client = Client.of({
    ask: <Answer>(path: string, { headers = {}, method = "GET" }: { method?: string; headers?: Readonly<Record<string, string>> } = {}) =>
      Effect.gen(function*() {
        if (method !== "POST") return {} as Answer
        const wait = Number(/^wait=(\d+)$/.exec(headers["prefer"] ?? "")?.[1])
        asked.push(wait)
        yield* TestClock.adjust(`${wait} seconds`)
        return { id: path, status: "pending" } as Answer
      }),
    bytes: () => Effect.die("no bytes"),
    events: () => {
      throw new Error("no stream")
    }
  })
  const event = { id: "agent.1", signal: "/signals/agent/shell", payload: { timeoutMs: 90_000 } }
  const sent = SpaceClients.SpaceClient.use(({ send }) => send(event)).pipe(
    Effect.provide(HttpSpaceClient.layer("agent")),
    Effect.provideService(Client, client),
    Effect.provide(TestClock.layer())
  )
  assert.strictEqual(await Effect.runPromise(sent), "known")
  assert.deepStrictEqual(asked, [60, 40], "90 s and the grace of 10 s")
})
