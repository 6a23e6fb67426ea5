import { assert, describe, it } from "@effect/vitest"
import * as RetryAfter from "../../../plugins/http/RetryAfter.ts"

/** The time of the host: Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110. */
const NOW = 784_111_777_000
const HOUR = 3_600_000

/** The wait of an answer with this header, by the clock of the host, at most an hour. */
const wait = (value: string | undefined, { date, status = 429 }: { readonly date?: string; readonly status?: number } = {}) =>
  RetryAfter.of({
    status,
    headers: [...value === undefined ? [] : [["Retry-After", value] as const], ...date === undefined ? [] : [["Date", date] as const]]
  }, { longest: HOUR, now: () => NOW })

describe("RetryAfter", () => {
  it("takes seconds of 429 and 503, and of no other status", () => {
    assert.strictEqual(wait("120"), 120_000)
    assert.strictEqual(wait(" 0 ", { status: 503 }), 0)
    for (const status of [200, 301, 408, 500, 502]) assert.isUndefined(wait("120", { status }), String(status))
    assert.isUndefined(wait(undefined))
  })

  it("takes a date in each form of HTTP", () => {
    for (const date of ["Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:50:37 1994"]) {
      assert.strictEqual(wait(date), 60_000, date)
    }
  })

  it("counts a date from the clock of the server, if its answer tells that", () => {
    assert.strictEqual(wait("Sun, 06 Nov 1994 09:50:37 GMT", { date: "Sun, 06 Nov 1994 09:50:07 GMT" }), 30_000)
    assert.strictEqual(wait("Sun, 06 Nov 1994 08:50:37 GMT", { date: "yesterday" }), 60_000)
  })

  it("waits for no date that has passed, and never longer than the channel grants", () => {
    assert.strictEqual(wait("Sun, 06 Nov 1994 08:49:00 GMT"), 0)
    assert.strictEqual(wait("Sunday, 06-Nov-50 08:49:37 GMT"), 0)
    for (const value of ["3601", "9".repeat(400), "Wed, 06 Nov 2999 08:49:37 GMT"]) assert.strictEqual(wait(value), HOUR, value)
  })

  it("ignores any other value", () => {
    const values = [
      "", "-1", "1.5", "1e3", "+5", "0x10", "soon", "1994-11-06T08:50:37Z", "120, 60", "Sun, 06 Nov 1994 08:50:37",
      "Sun, 06 Abc 1994 08:50:37 GMT", "Sun, 6 Nov 1994 08:50:37 GMT", "Sun, 31 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 24:50:37 GMT"
    ]
    for (const value of values) assert.isUndefined(wait(value), value)
  })
})
