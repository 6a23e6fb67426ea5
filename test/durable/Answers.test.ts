import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Schema from "effect/Schema"
import { Enzyme, type Transaction } from "systole"
import { TestReactor, TestSpace } from "systole/testing"
import { replays } from "../kernel/TestSpace.ts"

const Rate = Schema.Struct({ rate: Schema.Finite })
const url = "https://bank.example/rate"

/** Reads one answer in each way. */
const read = Enzyme.make({
  name: "read",
  query: "/signals/read",
  durable: true,
  run: async (tx: Transaction) => {
    const answer = await tx.io.fetch(url)
    const json = (): unknown => {
      try {
        return answer.json(Rate)
      } catch (error) {
        return error instanceof Error && "code" in error ? [error.code, error.message] : String(error)
      }
    }
    const { body, headers, status } = answer
    const read = { status, headers, body, text: answer.text(), bytes: answer.bytes().length, json: json() }
    await tx.sleep(1000)
    return { ...read, copy: Object.keys({ ...answer }), later: answer.text() === read.text }
  }
})

/** The parts that the run reads of a value of the channel. */
const answered = async (value: (space: TestSpace) => Promise<unknown>) => {
  const reactor = new TestReactor({ http: { opcodes: { fetch: {} } } })
  let found: Record<string, unknown> = {}
  await TestSpace.use([read], async (space) => {
    const id = await space.signal({ signal: "/signals/read" })
    await space.step()
    reactor.complete(reactor.jobs[0]?.rid ?? "", { value: await value(space) })
    await space.idle()
    await space.advance(1000)
    await space.idle()
    await Effect.runPromise(replays(space.space))
    found = (await space.receipt(id))?.handlings[0]?.value as typeof found
  }, { reactor: reactor.layer })
  return found
}

const keep = async (space: TestSpace, text: string) => `/cas/${await space.keep(new TextEncoder().encode(text))}`
const copy = ["rid", "channel", "opcode", "state", "value", "bytes_done", "attempt"]

describe("The answer that a durable run awaits", () => {
  it("is read as a text, as bytes and by a schema, also in a later segment", async () => {
    const body = `{"rate":1.5}`
    const found = await answered(async () => ({ status: 200, url, headers: { etag: "7" }, body }))
    assert.sameMembers(found["copy"] as Array<string>, copy)
    assert.deepInclude(found, { status: 200, headers: { etag: "7" }, body, text: body, bytes: 12, json: { rate: 1.5 }, later: true })
  })

  it("is read in the same way if its body is stored as content", async () => {
    const found = await answered(async (space) => ({ status: 200, url, headers: {}, content: await keep(space, `{"rate":2}`) }))
    assert.deepInclude(found, { text: `{"rate":2}`, bytes: 10, json: { rate: 2 } })
    assert.match(String(found["body"]), /^\/cas\//)
  })

  it("is read in the same way if all of it is stored as content", async () => {
    const found = await answered((space) => keep(space, JSON.stringify({ status: 201, url, headers: {}, body: `{"rate":3}` })))
    assert.deepInclude(found, { status: 201, body: `{"rate":3}`, bytes: 10, json: { rate: 3 } })
  })

  it.each([
    ["no JSON", "<html>", /json|JSON|syntax/],
    ["of another shape", `{"rate":"high"}`, /rate/],
    ["a number that would be another one", `{"rate":616581622363398142}`, /616581622363398144/],
    ["empty", "", /https:\/\/bank\.example\/rate \(status 200\)/]
  ])("is refused by name if it is %s", async (_kind, body, message) => {
    const [found, text] = (await answered(async () => ({ status: 200, url, headers: {}, body })))["json"] as [string, string]
    assert.strictEqual(found, "http/answer")
    assert.match(text, message)
  })
})
