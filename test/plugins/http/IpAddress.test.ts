import { assert, describe, it } from "@effect/vitest"
import { isIP } from "node:net"
import * as IpAddress from "../../../plugins/http/IpAddress.ts"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"

describe("IpAddress", () => {
  it.each([
    ["0.0.0.0", 4, 0n],
    ["127.0.0.1", 4, 0x7f000001n],
    ["255.255.255.255", 4, 0xffffffffn],
    ["::", 6, 0n],
    ["::1", 6, 1n],
    ["1::", 6, 1n << 112n],
    ["2001:DB8::a", 6, 0x20010db800000000000000000000000an],
    ["::ffff:127.0.0.1", 6, 0xffff7f000001n],
    ["64:ff9b::7f00:1", 6, 0x64ff9b00000000000000007f000001n],
    ["1:2:3:4:5:6:7:8", 6, 0x10002000300040005000600070008n]
  ] as const)("parses %s", (text, family, bits) => assert.deepStrictEqual(IpAddress.parse(text), { family, bits }))

  it.each([
    "", "1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.01", "256.0.0.1", "1.2.3.4.5", "1.2.3.", " 1.2.3.4", "1.2.3.4 ",
    "+1.2.3.4", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "12345::", "::g", "::1.2.3",
    "1.2.3.4::", "fe80::1%eth0", "[::1]"
  ])("takes %j for no address", (text) => assert.isUndefined(IpAddress.parse(text)))

  it("knows the networks of an address, bit by bit", () => {
    const networkOf = (text: string) => IpAddress.parseNetwork(text) ?? assert.fail(text)
    const isIn = (text: string, network: string) => IpAddress.contains(networkOf(network), networkOf(text))
    assert.isTrue(isIn("172.31.255.255", "172.16.0.0/12"))
    assert.isFalse(isIn("172.32.0.0", "172.16.0.0/12"))
    assert.isTrue(isIn("9.9.9.9", "1.1.1.1/0"))
    assert.isTrue(isIn("fd00::1", "fc00::/7"))
    assert.isFalse(isIn("fe00::1", "fc00::/7"))
    assert.isFalse(isIn("::ffff:1.2.3.4", "1.2.3.4"))
    for (const wrong of ["1.2.3.4/33", "::/129", "1.2.3.4/", "1.2.3.4/08", "1.2.3.4/8/8", "x/8", "1.2.3.4/-1"]) {
      assert.isUndefined(IpAddress.parseNetwork(wrong), wrong)
    }
  })

  it.each([...Trials.seeds(200)])("agrees with the host on random texts, seed %i", (seed) => {
    const draw = Random.make(seed)
    for (let i = 0; i < 50; i++) {
      const parts = Array.from({ length: 1 + draw(9) }, () => Random.pick(draw, ["0", "1", "ff", "255", "8", "", "abcd"]))
      const text = parts.join(Random.pick(draw, [":", ".", ":", "::"]))
      // The host takes leading zeros in no family, and a zone in IPv6, which no text here has.
      assert.strictEqual(IpAddress.parse(text)?.family ?? 0, isIP(text), text)
    }
  })
})
