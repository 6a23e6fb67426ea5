/**
 * Journeys through the product, recorded over the real kernel: the functions that each passes, in order.
 *
 * @module
 */
import { Effect, type Layer, type Scope } from "effect"
import { vi } from "vitest"
import { type Channel, Computation, Enzyme, type Kernel, Reactor } from "systole"
import { WAKE } from "../../plugins/agent/cells/CellAgent.ts"
import { DurableTransaction } from "../../src/durable/DurableTransaction.ts"
import { Handle } from "../../src/durable/Handle.ts"
import { OpenHandles } from "../../src/durable/OpenHandles.ts"
import { GroupStart } from "../../src/kernel/beat/loop/GroupTiming.ts"
import { Inbox } from "../../src/kernel/inbox/Inbox.ts"
import { WaitingRuns } from "../../src/kernel/inbox/WaitingRuns.ts"
import { ReceiptWaiters } from "../../src/kernel/live/ReceiptWaiters.ts"
import { Alarm } from "../../src/main/workers/Alarm.ts"
import type { DirectoryStub, Env } from "../../src/main/workers/Platform.ts"
import { make } from "../../src/main/workers/Settings.ts"
import { SpaceHost } from "../../src/main/workers/SpaceHost.ts"
import { GroupStore } from "../../src/persistence/GroupStore.ts"
import type { Batch } from "../../src/persistence/Persistence.ts"
import { JobQueue } from "../../src/reactor/JobQueue.ts"
import { OpenRequests } from "../../src/reactor/OpenRequests.ts"
import { Stage } from "../../src/stage/Stage.ts"
import { action, fileOf } from "../agent/TestAgent.ts"
import { withCellAgent } from "../agent/TestCellAgent.ts"
import * as TestIngress from "../ingress/TestIngress.ts"
import { register } from "../kernel/TestSpace.ts"
import * as MemoryObject from "../main/MemoryObject.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { CallPath, type Frame, type Leg } from "./CallPath.ts"

/** The begin of a beat. The functions outside of it are those of the first journey. */
const BEAT: Frame = { file: "src/kernel/beat/step/Heartbeat.ts", name: "step" }

/** Lets the promises of the host go on. */
const turn = Effect.promise(() => new Promise<void>((resolve) => void setTimeout(resolve, 1)))

/** A signal over HTTP: from the request to the answer with its receipt. */
const posted = Effect.gen(function*() {
  const path = new CallPath()
  const count = Enzyme.make({
    name: "count",
    query: "/signals/count",
    run: (tx) => {
      path.take("The handler runs")
      tx.increment("/data/count")
    }
  })
  const { post } = yield* TestIngress.serve({ enzymes: [count] })
  const isReceipt = (value: object): boolean => typeof value === "object" && "handlings" in value
  path.at("The signal is admitted", { owner: Inbox.prototype, member: "push", file: "src/kernel/inbox/Inbox.ts" })
  path.at("The beat is appended", {
    owner: GroupStore.prototype, member: "append", file: "src/persistence/GroupStore.ts", when: ({ entry }: Batch) => entry !== undefined
  })
  path.at("The receipt is published", { owner: ReceiptWaiters.prototype, member: "tell", file: "src/kernel/live/ReceiptWaiters.ts" })
  path.at("The request is answered", { owner: JSON, member: "stringify", when: isReceipt })
  yield* Effect.promise(() => post(TestIngress.signals, TestIngress.signal, { prefer: "wait=5" }))
  return path.end()
})

/** A run that awaits a request: the two beats, and the way of the request to its channel and back. */
const awaited = Effect.fnUntraced(function*(part: "beats" | "request") {
  const path = new CallPath()
  const pay = Enzyme.make({
    name: "pay",
    query: "/signals/pay",
    durable: true,
    run: async (tx) => {
      const { value } = await tx.io.request({ channel: "bank", opcode: "charge" })
      tx.set("/data/paid", value)
    }
  })
  const { promise, resolve } = Promise.withResolvers<Channel.JobResult>()
  const execute: Channel.Channel["execute"] = () => {
    if (part === "request") path.take("The channel gets the job")
    return promise
  }
  const opcodes = { charge: { repeatable: true } }
  const bank: Channel.Channel = { id: "bank", provider: "test", hosts: ["node", "deno", "bun"], opcodes, execute }
  const isOf = (name: RegExp) => (address: { readonly key: string }): boolean => name.test(address.key)
  yield* Effect.gen(function*() {
    const space = yield* TestKernel.space([pay])
    if (part === "beats") {
      path.at("The body asks", { owner: OpenHandles.prototype, member: "add", file: "src/durable/OpenHandles.ts" })
      path.at("The log has the step", { owner: Stage.prototype, member: "create", when: isOf(/\/step\/0$/) })
      path.at("The run waits", { owner: WaitingRuns.prototype, member: "add", file: "src/kernel/inbox/WaitingRuns.ts" })
      path.at("The result is captured", { owner: Stage.prototype, member: "create", when: isOf(/\/value$/) })
    } else {
      path.at("The flush is done", { owner: JobQueue.prototype, member: "offer", file: "src/reactor/JobQueue.ts" })
    }
    yield* space.signal({ signal: "/signals/pay" })
    yield* space.step
    yield* turn
    if (part === "beats") {
      path.at("The run is taken", { owner: WaitingRuns.prototype, member: "take", file: "src/kernel/inbox/WaitingRuns.ts" })
      path.at("The body goes on", { owner: Handle.prototype, member: "settle", file: "src/durable/Handle.ts" })
    } else {
      path.at("The job ends", { owner: OpenRequests.prototype, member: "arrive", file: "src/reactor/OpenRequests.ts" })
      path.at("The space wakes", { owner: GroupStart.prototype, member: "schedule", file: "src/kernel/beat/loop/GroupTiming.ts" })
    }
    resolve({ value: "receipt 1" })
    yield* turn
    yield* space.step
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: Reactor.native([bank]) }) as Layer.Layer<Kernel>))
  return path.end(part === "beats" ? BEAT : undefined)
})

/** A handler reads a derived cell that is not up to date. */
const derived = Effect.gen(function*() {
  const path = new CallPath()
  const total = Computation.make({
    name: "total",
    output: "/data/total",
    run: (tx) => {
      if (TestKernel.isOwn(tx)) path.take("The node runs")
      return tx.list("/data/orders").length
    }
  })
  const look = Enzyme.make({ name: "look", query: "/signals/look", run: (tx) => tx.get("/data/total") })
  yield* register(total)
  const space = yield* TestKernel.space([look])
  yield* space.signal({ signal: "/signals/look" })
  yield* space.step
  return path.end(BEAT)
}).pipe(Effect.provide(TestKernel.layer()))

/** The agent of a control file wakes for an action that is due. */
const woken = Effect.gen(function*() {
  const path = new CallPath()
  const health = action("health", { type: "http_check", target: "http://example.com/health", status: "pending", schedule: "every:5m" })
  yield* withCellAgent(({ pass, save }) => Effect.gen(function*() {
    const sends = (isWake: boolean) => ({ signal }: { readonly signal?: string }): boolean => (signal === WAKE) === isWake
    const send = { owner: DurableTransaction.prototype, member: "send", file: "src/durable/DurableTransaction.ts" }
    path.at("The wake begins", { owner: DurableTransaction.prototype, member: "begin", file: "src/durable/DurableTransaction.ts" })
    path.at("The action is sent", { ...send, when: sends(false) })
    path.at("The next wake is armed", { ...send, when: sends(true) })
    yield* save(fileOf(health))
    yield* pass("1 second")
  }))
  return path.end(BEAT)
})

const TOKEN = "a-token-of-some-length"

/** The alarm of an object wakes its space for a delayed signal. */
const alarmed = Effect.promise(async () => {
  const path = new CallPath()
  const now = vi.spyOn(Date, "now").mockReturnValue(1_800_000_000_000)
  try {
    const late = Enzyme.make({
      name: "late",
      query: "/signals/late",
      run: (tx) => {
        path.take("The handler runs")
        tx.set("/data/late", true)
      }
    })
    const { storage } = MemoryObject.make()
    const directory = { add: async () => {}, remove: async () => {} } as unknown as DirectoryStub
    const env = { DIRECTORY: { getByName: () => directory } } as unknown as Env
    const opened = (): SpaceHost => {
      const settings = make({ manifest: { "enzymes/late.ts": { module: late, hash: "a".repeat(64) } }, config: { token: TOKEN } }, env)
      const state = { acceptWebSocket: () => {}, getWebSockets: () => [] }
      return new SpaceHost({ space: "shop", storage, state, env, settings })
    }
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
    const first = opened()
    const ask = (method: string, at: string, body?: object) =>
      first.fetch(new Request(`https://worker.example/v1/spaces/shop${at}`, { method, headers, body: JSON.stringify(body) }))
    await ask("PUT", "")
    path.at("The alarm is armed", { owner: Alarm.prototype, member: "arm", file: "src/main/workers/Alarm.ts" })
    await ask("POST", "/signals", { signal: "/signals/late", at: { ms: 60_000 } })
    await new Promise((resolve) => void setTimeout(resolve, 5))
    now.mockReturnValue(1_800_000_060_000)
    path.at("The alarm runs", { owner: Alarm.prototype, member: "ran", file: "src/main/workers/Alarm.ts" })
    path.at("The next alarm is set", { owner: Alarm.prototype, member: "again", file: "src/main/workers/Alarm.ts" })
    await opened().alarm()
  } finally {
    now.mockRestore()
  }
  return path.end()
})

/** A recorded journey, with the title of its section. */
export interface Journey {
  readonly title: string
  readonly record: Effect.Effect<ReadonlyArray<Leg>, unknown, Scope.Scope>
  /** Whether time passes by the test clock alone. */
  readonly isTimed: boolean
}

/** The journeys, in the order of the page. */
export const all: ReadonlyArray<Journey> = [
  { title: "A signal and its receipt", record: posted, isTimed: false },
  { title: "A durable await", record: awaited("beats"), isTimed: false },
  { title: "A request and its result", record: awaited("request"), isTimed: false },
  { title: "A derived read", record: derived, isTimed: true },
  { title: "A wake of the agent", record: woken, isTimed: true },
  { title: "An alarm of a Worker", record: alarmed, isTimed: false }
]
