import { assert, describe, it } from "@effect/vitest"
import * as TargetUrl from "../../../plugins/http/TargetUrl.ts"

const refusal = (text: string): { readonly code: string; readonly message: string } => {
  try {
    return { code: "", message: TargetUrl.parse(text).href }
  } catch (error) {
    return error as { readonly code: string; readonly message: string }
  }
}

describe("TargetUrl", () => {
  it.each([
    ["http://0x7f.1", "usual notation"], ["http://2130706433/", "usual notation"], ["http://0177.0.0.1/", "usual notation"],
    ["http://127.1/", "usual notation"], ["http://0x08080808/", "usual notation"], ["http://127.0.0.01/", "usual notation"],
    ["http://%31%32%37.0.0.1/", "usual notation"], ["http://exam%70le.test/", "usual notation"],
    ["http://１２７.0.0.1/", "usual notation"], ["http://bücher.test/", "ASCII form"], ["http://localhost。/", "usual notation"],
    ["http://example.test./", "ends with a dot"], ["http://127.0.0.1./", "ends with a dot"],
    ["http://user:secret@example.test/", "credentials"], ["http://example.test@127.0.0.1/", "credentials"],
    ["http://@example.test/", "credentials"],
    ["http:\\\\example.test", "begin with"], ["http://example.test\\@127.0.0.1/", "backslash"],
    ["http://exam\tple.test/", "control character"],
    ["http://example.test/a b", "space"], ["http://example.test/\r\nHost: x", "control character"], [" http://example.test/", "begin with"],
    ["file:///etc/passwd", "begin with"], ["ftp://example.test/", "begin with"], ["gopher://example.test/", "begin with"],
    ["javascript:alert(1)", "begin with"], ["//example.test/", "begin with"], ["/path", "begin with"], ["", "begin with"],
    ["http:///path", "usual notation"], ["http://example.test:99999/", "usual notation"], ["http://example.test:port/", "usual notation"],
    ["http://[fe80::1%25eth0]/", "usual notation"], ["http://[::1/", "usual notation"], ["http://[::gg]/", "usual notation"],
    [`http://example.test/${"x".repeat(8192)}`, "characters"]
  ])("refuses %s: %s", (text, part) => {
    const { code, message } = refusal(text)
    assert.strictEqual(code, "http/refused")
    assert.include(message, part)
    assert.notInclude(message, "secret")
  })

  it.each([
    ["http://example.test", "example.test", 80], ["HTTPS://Example.test/a?b#c", "example.test", 443],
    ["http://127.0.0.1:8080/", "127.0.0.1", 8080],
    ["http://[::1]:90/", "::1", 90], ["http://[::ffff:127.0.0.1]/", "::ffff:7f00:1", 80],
    ["http://xn--bcher-kva.test/", "xn--bcher-kva.test", 80],
    ["http://a_b.example.test/é", "a_b.example.test", 80], ["http://example.test:443/", "example.test", 443]
  ])("takes %s to %s, port %i", (text, host, port) => assert.deepStrictEqual(TargetUrl.targetOf(TargetUrl.parse(text)), { host, port }))
})
