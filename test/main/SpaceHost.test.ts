import { assert, describe, it, vi } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Enzyme, Plugin, Retry } from "systole"
import * as Redacted from "../../src/cell/Redacted.ts"
import { surely } from "../../src/main/workers/Alarm.ts"
import type { DirectoryStub, Env, Storage } from "../../src/main/workers/Platform.ts"
import { make } from "../../src/main/workers/Settings.ts"
import { SpaceHost } from "../../src/main/workers/SpaceHost.ts"
import * as MemoryObject from "./MemoryObject.ts"

const TOKEN = "a-token-of-some-length"
const READER = "the-token-of-a-reader"

/** The host of a space without data, whose runtime fails to open. */
const hosted = () => {
  let openings = 0
  const refused = () => Promise.reject(new Error("not called"))
  const storage: Storage = {
    sql: { databaseSize: 0, exec: () => ({ raw: () => ({ toArray: () => [] }) }) },
    transactionSync: (body) => body(),
    getAlarm: () => {
      openings++
      return Promise.reject(new Error("the runtime is not opened here"))
    },
    get: refused, put: refused, delete: refused, setAlarm: refused, deleteAlarm: refused, deleteAll: refused, sync: refused
  }
  const directory = { add: refused, remove: refused, list: refused } as unknown as DirectoryStub
  const env: Env = { SPACES: { getByName: () => assert.fail("no other object is called") }, DIRECTORY: { getByName: () => directory } }
  const settings = { ...make({ manifest: {}, config: { token: TOKEN } }, env), reporter: { report: () => {} } } as unknown as
    ReturnType<typeof make>
  const state = { acceptWebSocket: () => {}, getWebSockets: () => [] }
  const host = new SpaceHost({ space: "shop", storage, state, env, settings })
  const codeOf = async (method: string, path: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) => {
    const answer = await host.fetch(new Request(`https://worker.example/v1/spaces/shop/${path}`, { method, headers }))
    return (await answer.json() as { readonly code: string }).code
  }
  return { codeOf, openings: () => openings }
}

describe("The host of a space", () => {
  it("opens no runtime for a stranger's report where there is no space, and answers as for a wrong token", async () => {
    const { codeOf, openings } = hosted()
    assert.strictEqual(await codeOf("POST", "rv/r1/report", { authorization: `rendezvous ${"ab".repeat(16)}` }), "rv/token")
    assert.strictEqual(openings(), 0)
    assert.notStrictEqual(await codeOf("POST", "signals"), "space/unknown")
    assert.strictEqual(openings(), 1)
  })

  it("opens no socket and no runtime for a caller without credentials that came past the Worker in front", async () => {
    const { codeOf, openings } = hosted()
    const headers = { authorization: "Bearer guessed", upgrade: "websocket" }
    assert.strictEqual(await codeOf("GET", "cells/data/a", headers), "auth/missing")
    assert.strictEqual(openings(), 0)
  })
})

/** The host of a space that works, in an object of its own. */
const opened = (
  storage: Storage,
  manifest: Parameters<typeof make>[0]["manifest"] = {},
  { more = {}, remove = async () => {} }: {
    readonly more?: Parameters<typeof make>[0]["config"] & object
    readonly remove?: () => Promise<void>
  } = {}
) => {
  const directory = { add: async () => {}, remove } as unknown as DirectoryStub
  const env: Env = { SPACES: { getByName: () => assert.fail("no other object is called") }, DIRECTORY: { getByName: () => directory } }
  const config = { token: TOKEN, labels: { cells: {}, readers: { web: { token: READER, clearance: [] } } }, ...more }
  const reports: Array<string> = []
  const reporter = { report: ({ note }: { readonly note: string }) => void reports.push(note) }
  const settings = { ...make({ manifest, config }, env), reporter } as unknown as ReturnType<typeof make>
  const state = { acceptWebSocket: () => {}, getWebSockets: () => [] }
  const host = new SpaceHost({ space: "shop", storage, state, env, settings })
  const as = (token: string) => (method: string, path = "", body?: object) =>
    host.fetch(new Request(`https://worker.example/v1/spaces/shop${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...body === undefined ? {} : { body: JSON.stringify(body) }
    }))
  return { as, ask: as(TOKEN), host, reports }
}

describe("A channel that an object cannot have", () => {
  it("is refused with the place of the configuration of this Worker", async () => {
    const { storage } = MemoryObject.make()
    const { ask, reports } = opened(storage, {}, { more: { channels: { mail: { use: "smtp" as "http", options: {} } } } })
    assert.strictEqual((await ask("POST", "/signals", { signal: "/signals/paid" })).status, 500)
    assert.match(reports.join(), /channel "mail": no plugin provides "smtp".* See to the field config of make\(\) of systole\/workers$/)
  })
})

describe("Plugins of a Worker", () => {
  it("that provide or reserve what another has are refused by name, and the rest runs", async () => {
    const { storage } = MemoryObject.make()
    class Prices extends Context.Service<Prices, object>()("shop/Prices") {}
    const plugin = (name: string, more: Partial<Plugin.Definition>) =>
      ({ module: Plugin.make({ name, version: "1.0.0", provides: {}, ...more }), hash: name })
    const greet = Enzyme.make({ name: "greet", query: "/signals/greet", run: () => "hello" })
    const { ask, host, reports } = opened(storage, {
      "enzymes/greet.ts": { module: greet, hash: "greet" },
      "plugins/ann.ts": plugin("ann", { reserved: ["/signals/ann/"], services: Layer.succeed(Prices, {}) }),
      "plugins/bob.ts": plugin("bob", { services: Layer.succeed(Prices, {}) }),
      "plugins/cid.ts": plugin("cid", { reserved: ["/signals/ann/paid/"] }),
      "plugins/dan.ts": plugin("dan", { services: Layer.effectDiscard(Effect.fail(new Error("no law"))) })
    })
    await ask("PUT")
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", prefer: "wait=30" }
    const body = JSON.stringify({ signal: "/signals/greet" })
    const answer = await host.fetch(new Request("https://worker.example/v1/spaces/shop/signals", { method: "POST", headers, body }))
    assert.strictEqual(answer.status, 200)
    const told = reports.join("\n")
    assert.include(told, `The services of the plugin "bob" are refused: it provides "shop/Prices", which the plugin "ann" provides, too`)
    assert.include(told, `the plugin "cid" reserves the signals /signals/ann/paid/, and the plugin "ann" in plugins/ann.ts`)
    assert.include(told, `The services of the plugin "dan" are refused: its layer fails: no law`)
    assert.lengthOf(reports, 3)
  })
})

describe("A signal that the Worker in front verified", () => {
  const { storage } = MemoryObject.make()
  const enzyme = Enzyme.make({
    name: "paid", query: "/signals/paid", writes: ["/data/paid"], run: (tx, { payload }) => tx.append("/data/paid", payload)
  })
  const { ask, host } = opened(storage, { "enzymes/paid.ts": { module: enzyme, hash: "1" } })
  const settings = make({ manifest: {}, config: { token: TOKEN } }, {} as Env)
  const signal = { signal: "/signals/paid", id: "message", principal: "webhook /hooks/paid" }

  it("is taken as by a request, once for its id", async () => {
    await ask("PUT")
    for (const duplicate of [false, true]) {
      const answer = await host.post({ proof: Redacted.value(settings.proof), signal, payload: "{\"sum\":5}" })
      assert.strictEqual(answer.status, 202)
      assert.include(await answer.json(), { duplicate })
    }
    assert.deepStrictEqual(await (await ask("GET", "/cells/data/paid?pull")).json(), [{ sum: 5 }])
  })

  it("is refused from another application, and as by a request", async () => {
    const codeOf = async (proof: string, given: object) =>
      ((await (await host.post({ proof, signal: { ...signal, ...given }, payload: undefined })).json()) as { readonly code: string }).code
    assert.strictEqual(await codeOf("guessed", {}), "auth/missing")
    assert.strictEqual(await codeOf(Redacted.value(settings.proof), { target: "no address" }), "address/invalid")
  })
})

describe("An object whose storage is nearly full", () => {
  it("takes no new data, but all that ends or controls work", async () => {
    const { storage: { sql, ...rest } } = MemoryObject.make()
    let databaseSize = 0
    const storage: Storage = {
      ...rest,
      sql: {
        exec: (query, ...given) => sql.exec(query, ...given),
        get databaseSize() {
          return databaseSize
        }
      }
    }
    const { as, ask } = opened(storage)
    await ask("PUT")
    databaseSize = 9_500_000_000
    const codeOf = async (method: string, path: string, send = ask) =>
      (await (await send(method, path, method === "POST" ? {} : undefined)).json() as { readonly code?: string }).code
    assert.strictEqual(await codeOf("POST", "/signals", as(READER)), "store/full")
    assert.isUndefined(await codeOf("GET", "/waiting", as(READER)))
    for (const path of ["/signals", "/rv", "/flows", "/ops", "/ops/o/state", "/clock/reset"]) {
      assert.strictEqual(await codeOf("POST", path), "store/full", path)
    }
    for (const path of ["", "/blobs", "/cells/data/control/hold", "/locks/data/a"]) {
      assert.strictEqual(await codeOf("PUT", path), "store/full", path)
    }
    const taken = ["/control/release", "/control/rollback", "/runs/x.1.0/cancel", "/ops/o/cancel", "/rv/r1/report", "/rv/r1/kill"]
    for (const path of taken) assert.notStrictEqual(await codeOf("POST", path), "store/full", path)
    assert.strictEqual(await codeOf("POST", "/control/rollback/more"), "route/absent")
    assert.isUndefined(await codeOf("GET", "/ops"))
    assert.isUndefined(await codeOf("DELETE", ""))
  })
})

describe("A removal that the directory does not take", () => {
  it("leaves no hold of the space to the next one of its name", async () => {
    const { storage } = MemoryObject.make()
    const { ask } = opened(storage, {}, { remove: () => Promise.reject(new Error("the directory is reset")) })
    await ask("PUT")
    await ask("POST", "/control/hold", {})
    assert.strictEqual((await ask("DELETE")).status, 503)
    await ask("PUT")
    const { boot_oid, held } = await (await ask("GET", "/control")).json() as { readonly boot_oid: string | null; readonly held: boolean }
    assert.isFalse(held)
    assert.isString(boot_oid)
  })
})

describe("The alarm of a space", () => {
  it("leaves its object empty if the space is removed while it waits for a run", async () => {
    const { promise: running, resolve: begun } = Promise.withResolvers<void>()
    const { promise: over, resolve: finish } = Promise.withResolvers<void>()
    const slow = Enzyme.make({
      name: "slow",
      query: "/signals/slow",
      run: () => {
        begun()
        return over
      }
    })
    const { alarm, storage, values } = MemoryObject.make()
    const { ask, host } = opened(storage, { "enzymes/slow.ts": { module: slow, hash: "a".repeat(64) } })
    await ask("PUT")
    await ask("POST", "/signals", { signal: "/signals/slow" })
    await running
    assert.isNumber(alarm())
    const failures: Array<unknown> = []
    const ran = surely(storage, { isRepeated: false, work: () => host.alarm(), report: async (failure) => void failures.push(failure) })
    await new Promise((resolve) => void setTimeout(resolve, 20))
    assert.strictEqual((await ask("DELETE")).status, 200)
    finish()
    await ran
    assert.deepStrictEqual([failures, alarm(), [...values]], [[], null, []])
  })

  it("is set to the due time of a schedule and of a retry, and wakes an object that was evicted", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 })
    try {
      const tick = Enzyme.make({
        name: "tick",
        query: "/signals/tick",
        schedule: { every: "1h", spaces: ["shop"] },
        retry: { delay: "10m" },
        run: (tx, { attempt }) => {
          if (attempt === 1) return new Retry({ reason: "not yet" })
          return void tx.increment("/data/ticks")
        }
      })
      const { alarm, storage } = MemoryObject.make()
      const evicted = () => opened(storage, { "enzymes/tick.ts": { module: tick, hash: "a".repeat(64) } })
      const first = evicted()
      await first.ask("PUT")
      await first.ask("GET", "/cells/sys/schedules/tick")
      assert.strictEqual(alarm(), 1_800_003_600_000)
      for (const [now, next] of [[1_800_003_600_000, 1_800_004_200_000], [1_800_004_200_000, 1_800_007_200_000]] as const) {
        vi.setSystemTime(now)
        await evicted().host.alarm()
        assert.strictEqual(alarm(), next)
      }
      assert.strictEqual(await (await evicted().ask("GET", "/cells/data/ticks")).json(), 1)
    } finally {
      vi.useRealTimers()
    }
  })
})
