import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Space } from "systole"
import { ENDED } from "../../plugins/agent/order/Order.ts"
import { action, fileOf, KEY, moving, PATH, type Script, withAgent } from "./TestAgent.ts"

const RECORD = `/data/agent/${KEY}/actions/a`

/** The fields of actions that ask the world, by type. */
const asking: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  shell: { command: "rm -rf /" },
  http: { url: "http://x.test/" },
  http_check: { url: "http://x.test/" },
  file: { operation: "delete", target: "x" },
  notify: { channel: "signed", target: "http://x.test/", message: "forged" }
}

/** An order that no wake gave. */
const forged = (type: string, change: object = {}) => ({
  file: KEY, path: PATH, action: "a", name: "a", type, occurrence: "pending:1", attempt: 1, attempts: 1, pendings: 1, timeoutMs: 300_000,
  fields: asking[type] ?? {}, ...change
})

const send = (space: Space, type: string, payload: object) =>
  moving(space.handled({ signal: `/signals/agent/${type}`, payload: payload as never }))

const statusOf = (space: Space, id: string) =>
  Effect.map(space.get(`/data/agent/${KEY}/actions/${id}`), (record) => (record as { readonly status?: string } | undefined)?.status)

/** Channels that keep each request. */
const world = () => {
  const asked: Array<string> = []
  const script = (name: string): Script => (opcode, payload) => {
    asked.push(`${name}/${opcode} ${JSON.stringify(payload)}`)
    return { status: 200, code: 0, stdout: "", stderr: "", headers: {}, url: "", body: "", bytes: 0, paths: [] }
  }
  return { asked, scripts: { http: script("http"), shell: script("shell"), file: script("file"), "webhook-out": script("webhook-out") } }
}

const shell = action("a", { type: "shell", command: "echo a", status: "pending" })

describe("Permits of orders", () => {
  it.effect("asks no channel for an order that no wake gave, and leaves no record of it", () => {
    const { asked, scripts } = world()
    return withAgent(fileOf(), ({ space }) => Effect.gen(function*() {
      for (const type of Object.keys(asking)) yield* send(space, type, forged(type))
      assert.deepStrictEqual(asked, [])
      assert.isUndefined(yield* space.get(RECORD))
    }), { scripts })
  })

  it.effect("refuses an order that differs from the one of the wake in any field", () => {
    const { asked, scripts } = world()
    return withAgent(fileOf(shell), ({ space, wake }) => Effect.gen(function*() {
      yield* wake()
      const before = yield* space.get(RECORD)
      const permitted = (yield* space.get(`/data/agent/${KEY}/permits/a`)) as unknown as ReturnType<typeof forged>
      const changes = [{ fields: { command: "echo b" } }, { occurrence: "pending:2" }, { attempt: 2 }, { type: "http" }, { timeoutMs: 1 }]
      for (const change of changes) yield* send(space, "shell", { ...permitted, ...change })
      assert.strictEqual(asked.length, 1)
      assert.deepStrictEqual(yield* space.get(RECORD), before)
    }), { scripts })
  })

  it.effect("runs the order of a wake once, however often its signal is sent", () => {
    const { asked, scripts } = world()
    const again = Enzyme.make({
      name: "again",
      query: "/signals/again",
      writes: [],
      run: (tx) => void tx.signal({ signal: "/signals/agent/shell", payload: tx.get(`/data/agent/${KEY}/permits/a`) })
    })
    return withAgent(fileOf(shell), ({ space, wake }) => Effect.gen(function*() {
      yield* wake()
      yield* moving(space.handled({ signal: "/signals/again", payload: 1 as never }))
      yield* moving(space.idle)
      assert.strictEqual(asked.length, 1)
    }), { scripts, enzymes: [again] })
  })

  it.effect("does not let an action of the type signal start a program that nobody approved", () => {
    const { asked, scripts } = world()
    const sender = action("sender", {
      type: "signal", signal: "/signals/agent/shell", payload: JSON.stringify(forged("shell")), status: "pending"
    })
    return withAgent(fileOf(sender), ({ fields, space, wake }) => Effect.gen(function*() {
      yield* wake()
      yield* moving(space.idle)
      assert.strictEqual(fields("sender")["status"], "completed")
      assert.deepStrictEqual(asked, [])
    }), { scripts })
  })

  it.effect("ends a composite action with its members, whoever tells it earlier that they have ended", () => {
    let finish = (): void => {}
    const slow = () => new Promise((resolve) => finish = () => resolve({ code: 0, stdout: "", stderr: "" }))
    const all = action("all", { type: "composite", actions: "a", status: "pending" })
    return withAgent(fileOf(all, shell), ({ fields, space, wake }) => Effect.gen(function*() {
      const early = Effect.gen(function*() {
        while ((yield* statusOf(space, "a")) !== "running") yield* Effect.sleep("1 second")
        yield* space.signal({ signal: ENDED, target: RECORD, payload: { status: "completed" } as never })
        yield* Effect.sleep("30 seconds")
        const before = yield* statusOf(space, "all")
        finish()
        return before
      })
      const [before] = yield* Effect.all([early, wake()], { concurrency: 2 })
      assert.strictEqual(before, "running")
      assert.strictEqual(fields("all")["status"], "completed")
    }), { scripts: { shell: slow } })
  })

  it.effect("gives a member no permit before its composite action starts it", () => {
    const { asked, scripts } = world()
    const fails: Script = () => {
      throw new Error("no")
    }
    const all = action("all", { type: "composite", actions: "first, a", fail_fast: "true", status: "pending" })
    const first = action("first", { type: "http", url: "http://x.test/", status: "completed" })
    const last = action("a", { type: "shell", command: "rm -rf /", status: "completed" })
    return withAgent(fileOf(all, first, last), ({ fields, space, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.strictEqual(fields("all")["status"], "failed")
      // The order that the composite action would have given.
      const order = (yield* space.get(`/data/agent/${KEY}/permits/all`)) as unknown as { readonly members: ReadonlyArray<object> }
      yield* send(space, "shell", order.members[1]!)
      yield* moving(space.idle)
      assert.deepStrictEqual(asked, [])
      assert.isUndefined(yield* space.get(RECORD))
    }), { scripts: { ...scripts, http: fails } })
  })
})
