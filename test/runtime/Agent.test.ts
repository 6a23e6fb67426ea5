import { afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { action, fieldsOf, fileOf } from "../agent/TestAgent.ts"
import { LocalServers } from "../plugins/http/LocalServer.ts"
import * as Edge from "./Edge.ts"

let script = ""

const servers = new LocalServers()

afterEach(() => servers.close())

beforeAll(async () => {
  script = await Edge.script("./test/runtime/agent.ts")
})

/** The platform's timers are real. */
const PATIENCE = { timeout: 120_000, interval: 50 }

const CELL = "/data/agent/files/heartbeat.md"

/** The file as a person has it over HTTP. */
const fileIn = ({ fetch, json, signal }: Edge.Edge) => ({
  text: async (): Promise<string> => {
    const { content } = await json(`/v1/spaces/home/cells${CELL}`)
    return (await fetch(`/v1/spaces/home/blobs/${content.slice("/cas/".length)}`)).text()
  },
  save: async (text: string, from?: string) => {
    const payload = { text, ...from === undefined ? {} : { from } }
    const { body } = await signal("home", { signal: "/signals/heartbeat/save", target: CELL, payload })
    return body.handlings[0].value
  }
})

const check = (target: string, schedule: string) => action("site", { type: "http_check", target, schedule, status: "pending" })

describe("An agent in a durable object", { timeout: 300_000 }, () => {
  it("wakes by the alarm of an object that left memory, and its status is in the cell", async () => {
    let calls = 0
    const { url } = await servers.http((_, response) => {
      calls++
      response.end("well")
    })
    await Edge.running(script, async (edge) => {
      const { save, text } = fileIn(edge)
      assert.deepInclude(await save(fileOf(check(url, "every:3s"))), { saved: true, issues: [] })
      await vi.waitUntil(async () => fieldsOf(await text(), "site")["result"] === "OK (200)", PATIENCE)
      const before = await edge.json("/test/seen/home")
      const seen = calls
      await edge.fetch("/test/reset/home")
      // Nothing opens the space but its alarm.
      await vi.waitUntil(() => calls > seen, PATIENCE)
      await vi.waitUntil(async () => (await edge.json("/test/seen/home")).alarms > 0, PATIENCE)
      assert.isAbove((await edge.json("/test/seen/home")).number, before.number)
    })
  })

  it("keeps a save of a person that comes while an action runs, beside the status of the action", async () => {
    let answer: (() => void) | undefined
    const { url } = await servers.http((_, response) => void (answer = () => void response.end("well")))
    await Edge.running(script, async (edge) => {
      const { save, text } = fileIn(edge)
      const first = fileOf(check(url, "every:1h"))
      const { content: from } = await save(first)
      await vi.waitUntil(() => answer !== undefined, PATIENCE)
      assert.strictEqual(fieldsOf(await text(), "site")["status"], "running")
      assert.deepInclude(await save(first.replace("Mine.", "Mine, and more."), from), { saved: true })
      assert.strictEqual(fieldsOf(await text(), "site")["status"], "running")
      answer?.()
      await vi.waitUntil(async () => fieldsOf(await text(), "site")["result"] === "OK (200)", PATIENCE)
      assert.include(await text(), "\nMine, and more.\n")
      await vi.waitUntil(async () => (await edge.json("/v1/spaces/home/runs")).runs.length === 0, PATIENCE)
      assert.deepStrictEqual((await edge.json("/v1/spaces/home/dead")).letters, [])
    })
  })

  it("writes no row and runs no beat when its object opens or wakes with nothing due", async () => {
    const { url } = await servers.http((_, response) => response.end("well"))
    await Edge.running(script, async (edge) => {
      const { save, text } = fileIn(edge)
      await save(fileOf(check(url, "every:1h")))
      await vi.waitUntil(async () => (await text()).includes("next_wake: "), PATIENCE)
      await vi.waitUntil(async () => (await edge.json("/v1/spaces/home/runs")).runs.length === 0, PATIENCE)
      const { beats } = await edge.json("/v1/spaces/home/beats")
      await edge.fetch("/test/reset/home")
      await edge.fetch("/test/ring/home")
      assert.deepStrictEqual((await edge.json("/v1/spaces/home/beats")).beats, beats)
      assert.deepInclude(await edge.json("/test/seen/home"), { rowsWritten: 0 })
    })
  })
})
