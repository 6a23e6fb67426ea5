import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Channel } from "systole"
import { TestReactor } from "systole/testing"
import { ask } from "../recorded/HttpModules.ts"
import * as StreamText from "../support/StreamText.ts"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const channels = {
  bank: { opcodes: { charge: { repeatable: true }, pay: {} }, caps: ["tls"], hosts: ["node"] as const, clearance: ["money"] },
  cpu: { opcodes: { work: {} }, shim: true }
}

interface World extends TestIngress {
  readonly reactor: TestReactor
  /** Makes a request by an enzyme. Returns its id. */
  readonly request: (payload: unknown) => Promise<string>
}

const test = (name: string, run: (app: World) => Promise<void>) =>
  it.live(name, () => Effect.suspend(() => {
    const reactor = new TestReactor(channels)
    return Effect.flatMap(serve({ enzymes: [ask], reactor: reactor.layer }), (app) => Effect.promise(async () => {
      const request = async (payload: unknown): Promise<string> => {
        const { body } = await app.post(`${space}/signals`, { signal: "/signals/ask", payload }, { prefer: "wait=10" })
        return (body as { readonly handlings: ReadonlyArray<{ readonly value: string }> }).handlings[0]?.value ?? ""
      }
      await app.put(space, {})
      await run({ ...app, reactor, request })
    }))
  }))

const space = "/v1/spaces/shop"

/** The body of a list. */
interface List {
  readonly requests: ReadonlyArray<{ readonly rid: string; readonly state: string }>
  readonly next: string | null
}

/** Follows the stream of a request until it has a state. */
const followed = async ({ fetch }: World, rid: string, state: string): Promise<ReadonlyArray<string>> => {
  const response = await fetch(`${space}/io/${rid}`, { headers: { accept: "text/event-stream" } })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const text = await StreamText.until(reader, `"${state}"`)
  await reader.cancel()
  return [...text.matchAll(/"state":"([^"]+)"/g)].map((match) => match[1] ?? "")
}

describe("Requests over HTTP", () => {
  test("are listed page by page, the open ones alone, and shown with all fields", async ({ ask, reactor, request, ...app }) => {
    const first = await request({ channel: "bank", opcode: "charge", payload: { cents: 100 }, budget: 600, timeoutMs: 60_000, bytes: 7 })
    const second = await request({ channel: "cpu", opcode: "work" })
    const page = (await ask(`${space}/io?limit=1`)).body as List
    assert.deepStrictEqual([page.requests.map(({ rid }) => rid), page.next], [[first], first])
    const rest = (await ask(`${space}/io?after=${page.next}`)).body as List
    assert.deepStrictEqual([rest.requests.map(({ rid }) => rid), rest.next], [[second], null])
    const shown = (await ask(`${space}/io/${first}`)).body as Readonly<Record<string, unknown>>
    assert.deepInclude(shown, {
      rid: first, oid: "OPS:io", channel: "bank", opcode: "charge", state: "pending", attempt: 1, attempts: 3,
      payload: { cents: 100 }, bytes_expected: 7, enzyme: "ask", signal: "/signals/ask/done"
    })
    assert.match(String(shown["key"]), /^[0-9a-f]{64}$/)
    assert.strictEqual(Number(shown["deadline_beat"]) - Number(shown["issued_beat"]), 600)
    assert.strictEqual(Number(shown["deadline_ms"]) - Number(shown["issued_ms"]), 60_000)
    reactor.fail(second, Channel.fail("cpu/broken", "no", { errno: -5 }))
    await followed({ ask, reactor, request, ...app }, second, "fail")
    assert.deepStrictEqual(((await ask(`${space}/io?open`)).body as List).requests.map(({ rid }) => rid), [first])
    assert.deepInclude((await ask(`${space}/io/${second}`)).body as object, { state: "fail", code: "cpu/broken", errno: -5 })
  })

  test("are followed and cancelled once, and unknown ones are absent", async (app) => {
    const { ask, reactor, request } = app
    const rid = await request({ channel: "bank", opcode: "pay" })
    const seen = followed(app, rid, "cnl")
    const cancelled = await ask(`${space}/io/${rid}/cancel`, { method: "POST" })
    assert.deepStrictEqual([cancelled.status, (cancelled.body as { readonly rid: string }).rid], [200, rid])
    assert.deepStrictEqual([...new Set(await seen)].at(-1), "cnl")
    assert.deepStrictEqual(reactor.jobs, [])
    assert.deepStrictEqual(problem(await ask(`${space}/io/${rid}/cancel`, { method: "POST" })), [409, "io/finished"])
    assert.deepStrictEqual(problem(await ask(`${space}/io/bank:9.9.9/cancel`, { method: "POST" })), [404, "io/request-absent"])
    assert.deepStrictEqual(problem(await ask(`${space}/io/bank:9.9.9`)), [404, "io/request-absent"])
    assert.deepStrictEqual(problem(await ask(`${space}/io?limit=x`)), [400, "query/invalid"])
    assert.deepStrictEqual(app.accidents, [])
  })

  test("name the channels with their jobs, and the beats that captured completions", async (app) => {
    const { ask, reactor, request } = app
    const rids = [await request({ channel: "bank", opcode: "pay" }), await request({ channel: "bank", opcode: "pay", attempts: 1 })]
    assert.deepStrictEqual((await ask(`${space}/io/channels`)).body, {
      channels: [
        {
          channel: "bank", provider: "script", caps: ["tls"], shim: false, hosts: ["node"], clearance: ["money"], label: [],
          waiting: 0, active: 2, hung: 0, state: "sound", opcodes: { charge: true, pay: false }
        },
        {
          channel: "cpu", provider: "script", caps: [], shim: true, hosts: ["node", "deno", "bun", "workers"], clearance: [], label: [],
          waiting: 0, active: 0, hung: 0, state: "sound", opcodes: { work: false }
        }
      ]
    } as never)
    reactor.complete(rids[0] ?? "")
    await followed(app, rids[0] ?? "", "complete")
    reactor.fail(rids[1] ?? "", Channel.fail("io/unreachable", "no", { errno: -113 }))
    await followed(app, rids[1] ?? "", "fail")
    const { drains, next } = (await ask(`${space}/io/drains`)).body as
      { readonly drains: ReadonlyArray<{ readonly beat: number; readonly completions: ReadonlyArray<unknown> }>; readonly next: null }
    assert.deepStrictEqual(drains.map(({ completions }) => completions), [
      [{ rid: rids[1], channel: "bank", attempt: 1, outcome: "io/unreachable", errno: -113 }],
      [{ rid: rids[0], channel: "bank", attempt: 1, outcome: "ok" }]
    ])
    assert.isNull(next)
    const [newest, before] = drains
    const page = (await ask(`${space}/io/drains?before=${newest?.beat}&limit=1`)).body as { readonly drains: ReadonlyArray<unknown> }
    assert.deepStrictEqual(page.drains, [before])
  })
})
