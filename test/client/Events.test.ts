import { assert, describe, it } from "@effect/vitest"
import { events, type Read, type StreamEvent } from "../../src/client/Events.ts"

const utf8 = new TextEncoder()

/** Reads bytes in parts of a size. */
const parts = (bytes: Uint8Array<ArrayBuffer>, size: number): Read => {
  let from = 0
  return async () => {
    if (from >= bytes.length) return { done: true, value: undefined }
    const value = bytes.subarray(from, from += size)
    return { done: false, value }
  }
}

const all = async (read: Read): Promise<ReadonlyArray<StreamEvent>> => {
  const found: Array<StreamEvent> = []
  for await (const event of events(read)) found.push(event)
  return found
}

const KB = 1_024
const MB = KB * KB

/** The milliseconds in which one event of so many bytes is read, in parts of 1 KiB: the shortest of three. */
const millis = async (size: number): Promise<number> => {
  const data = "x".repeat(size)
  const bytes = utf8.encode(`event: value\ndata: "${data}"\n\n`)
  const times: Array<number> = []
  for (let i = 0; i < 3; i++) {
    const began = performance.now()
    const [event] = await all(parts(bytes, KB))
    times.push(performance.now() - began)
    assert.strictEqual(String(event?.data).length, size)
  }
  return Math.min(...times)
}

describe("The events of a stream", () => {
  it("are the same in parts of any size", async () => {
    const text = [
      ": alive", "id: 3\nevent: value\ndata: \"é\u{1F375}\"", ": alive", "event: reset\ndata: {\"reason\":\"late\"}",
      "id: 4\nevent: absent\ndata: null", ""
    ].join("\n\n")
    const expected = [
      { id: "3", event: "value", data: "é\u{1F375}" }, { id: "3", event: "reset", data: { reason: "late" } },
      { id: "4", event: "absent", data: null }
    ]
    const bytes = utf8.encode(text)
    for (let size = 1; size <= bytes.length; size++) assert.deepStrictEqual(await all(parts(bytes, size)), expected, `parts of ${size}`)
  })

  it("are read in a time that grows with their size, and not with its square", async () => {
    const [small, large] = [await millis(MB), await millis(16 * MB)]
    // 16 times as many bytes; a square would be 256 times.
    assert.isBelow(large / small, 80, `1 MiB in ${small} ms, 16 MiB in ${large} ms`)
  })

  it("are refused from 32 MiB on, and not kept", async () => {
    let given = 0
    const endless: Read = async () => {
      given += MB
      return { done: false, value: utf8.encode("x".repeat(MB)) }
    }
    const error = await all(endless).then(() => assert.fail("no failure"), (error: unknown) => error)
    assert.deepInclude({ ...error as object }, { code: "server/answer" })
    assert.isAtMost(given, 34 * MB)
  })
})
