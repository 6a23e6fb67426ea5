import { assert, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Channel } from "systole"
import * as Errno from "../../src/reactor/Errno.ts"

describe("Errno", () => {
  it("classifies an error of the host itself", async () => {
    const error: unknown = await readFile(join(tmpdir(), "systole", "no", "such", "file")).catch((error: unknown) => error)
    assert.deepStrictEqual(Errno.of(error), { errno: -2, code: "io/absent", retryable: false })
  })

  it.each([
    [{ code: "EACCES" }, "io/denied", false],
    [{ name: "NotCapable" }, "io/denied", false],
    [{ code: "ENOSPC" }, "io/space", true],
    [{ code: "EMFILE" }, "io/busy", true],
    [{ name: "TimeoutError", code: 23 }, "io/timeout", true],
    [{ code: "ConnectionRefused" }, "io/unreachable", true],
    [{ code: "ENOTFOUND", errno: -3008 }, "io/unreachable", true],
    [{ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "io/tls", false],
    [{ code: "ERR_SSL_WRONG_VERSION_NUMBER" }, "io/tls", false],
    [{ code: "CERT_HAS_EXPIRED" }, "io/tls", false],
    [{ code: "HPE_INVALID_CONSTANT" }, "io/protocol", false],
    [{ name: "AbortError" }, "io/cancelled", false]
  ])("classifies %j", (error, code, retryable) => assert.deepInclude(Errno.of(error), { code, retryable }))

  it("finds the cause of an error, and takes an endless chain of causes", () => {
    const inner = Object.assign(new Error("connect ECONNRESET"), { code: "ECONNRESET" })
    assert.deepInclude(Errno.of(new TypeError("fetch failed", { cause: inner })), { errno: -104, code: "io/unreachable" })
    const circle: { cause?: unknown } = {}
    circle.cause = circle
    assert.deepInclude(Errno.of(circle), { errno: -5, code: "io/failed", retryable: false })
  })

  it.each([undefined, null, "ENOENT", 2, { code: "constructor" }])("knows nothing of %j", (error) =>
    assert.deepStrictEqual(Errno.of(error), { errno: -5, code: "io/failed", retryable: false }))

  it("makes a failure of a channel, without the message of the host", () => {
    const busy = Channel.hostFailure(Object.assign(new Error("token=1"), { code: "EBUSY" }), "request R1: the file is in use")
    assert.deepInclude(busy, { code: "io/busy", errno: -16, retryable: true, message: "request R1: the file is in use" })
    assert.strictEqual(Channel.hostFailure(busy, "another reason"), busy)
  })
})
