import { assert, describe, it } from "@effect/vitest"
import * as AddressPolicy from "../../../plugins/http/AddressPolicy.ts"
import * as IpAddress from "../../../plugins/http/IpAddress.ts"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"

const kindOf = (text: string) => AddressPolicy.kindOf(IpAddress.parse(text) ?? assert.fail(text))

const policy = (rules: Partial<AddressPolicy.Rules> = {}) => AddressPolicy.make({ allow: [], deny: [], pinned: true, ...rules })

const at = (host: string, port = 80): AddressPolicy.Target => ({ host, port })

/** The reference model of public IPv4: the octets of each block, written out. */
const isPublicV4 = ([a, b, c, d]: readonly [number, number, number, number]): boolean =>
  !(a === 0 || a === 10 || a === 127 || a >= 224 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 168 && b === 63 && c === 129 && d === 16) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99))) ||
    (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
    (a === 203 && b === 0 && c === 113))

/** The reference model of public IPv6, by the first groups. */
const isPublicV6 = ([a = 0, b = 0]: ReadonlyArray<number>): boolean =>
  a >= 0x2000 && a <= 0x3fff && a !== 0x2002 && !(a === 0x2001 && (b <= 0x1ff || b === 0xdb8)) && !(a === 0x3fff && b <= 0xfff)

describe("AddressPolicy", () => {
  it.each([
    ["127.0.0.1", "a loopback address"], ["::1", "a loopback address"],
    ["0.0.0.0", "an unspecified address"], ["::", "an unspecified address"],
    ["10.1.2.3", "a private address"], ["172.16.0.1", "a private address"], ["192.168.1.1", "a private address"],
    ["fd12::1", "a unique local address"],
    ["169.254.169.254", "a link-local address"], ["fe80::1", "a link-local address"],
    ["100.100.100.200", "an address of a carrier-grade NAT"],
    ["224.0.0.1", "a multicast address"], ["ff02::1", "a multicast address"], ["255.255.255.255", "the broadcast address"],
    ["192.0.2.1", "a documentation address"], ["2001:db8::1", "a documentation address"], ["3fff::1", "a documentation address"],
    ["198.19.0.1", "a benchmarking address"], ["2001:2::1", "a benchmarking address"],
    ["240.0.0.1", "a reserved address"], ["4000::1", "a reserved address"], ["100::1", "a reserved address"],
    ["::ffff:127.0.0.1", "an IPv4-mapped address"], ["::ffff:8.8.8.8", "an IPv4-mapped address"],
    ["::127.0.0.1", "an IPv4-compatible address"], ["64:ff9b::7f00:1", "a NAT64 address"], ["64:ff9b:1::1", "a NAT64 address"],
    ["2002:7f00:1::", "a 6to4 address"], ["2001:0:1::1", "a Teredo address"], ["168.63.129.16", "an address of a cloud's metadata service"]
  ])("refuses %s, %s", (address, kind) => {
    assert.strictEqual(kindOf(address), kind)
    assert.include(policy().target(at(address)), `${address} is ${kind}`)
    assert.include(policy().address(at("shop.test"), address), `shop.test resolves to ${address}, which is ${kind}`)
  })

  it.each(["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "223.255.255.255", "2606:4700::1111", "2a00::1"])(
    "lets %s pass", (address) => assert.isUndefined(policy().target(at(address))))

  it.each([...Trials.seeds(400)])("equals the reference model on random addresses, seed %i", (seed) => {
    const draw = Random.make(seed)
    const edges = [0, 1, 2, 10, 15, 16, 18, 31, 51, 63, 64, 88, 99, 100, 113, 127, 129, 168, 169, 172, 192, 198, 203, 224, 254, 255]
    const octet = () => draw(3) === 0 ? draw(256) : Random.pick(draw, edges)
    const starts = [0, 0x64, 0x2000, 0x2001, 0x2002, 0x2003, 0x3ffe, 0x3fff, 0x4000, 0xfc00, 0xfe80, 0xff02]
    const seconds = [0, 1, 2, 0x1ff, 0x200, 0xdb7, 0xdb8, 0xdb9, 0xfff, 0x1000, 0xff9b]
    const group = (edges: ReadonlyArray<number>) => draw(3) === 0 ? draw(65_536) : Random.pick(draw, edges)
    for (let i = 0; i < 50; i++) {
      const v4 = [octet(), octet(), octet(), octet()] as const
      assert.strictEqual(kindOf(v4.join(".")) === undefined, isPublicV4(v4), v4.join("."))
      const v6 = [group(starts), group(seconds), ...Array.from({ length: 6 }, () => draw(65_536))]
      const text = v6.map((part) => part.toString(16)).join(":")
      assert.strictEqual(kindOf(text) === undefined, isPublicV6(v6), text)
    }
  })

  it("lets the allow list pass, by name, address, network and port", () => {
    const allow = ["localhost:8080", "*.internal.test", "10.1.0.0/16", "[::1]:90", "127.0.0.1"]
    const { address, target } = policy({ allow })
    assert.isUndefined(address(at("localhost", 8080), "127.0.0.2"))
    assert.include(address(at("localhost", 8081), "127.0.0.2"), "loopback")
    assert.isUndefined(address(at("a.internal.test"), "192.168.0.1"))
    assert.include(address(at("internal.test"), "192.168.0.1"), "private")
    assert.include(address(at("notinternal.test"), "192.168.0.1"), "private")
    assert.isUndefined(address(at("any.test"), "10.1.9.9"))
    assert.include(address(at("any.test"), "10.2.9.9"), "private")
    assert.isUndefined(target(at("::1", 90)))
    assert.include(target(at("::1", 91)), "loopback")
    assert.isUndefined(target(at("127.0.0.1", 1234)))
    assert.include(address(at("any.test"), "::ffff:127.0.0.1"), "IPv4-mapped")
  })

  it("refuses the deny list before it asks the allow list", () => {
    const { address, target } = policy({ allow: ["bad.test", "9.9.9.9"], deny: ["bad.test", "9.9.9.0/24", "8.8.8.8:53"] })
    assert.include(target(at("bad.test")), "deny list")
    assert.include(target(at("9.9.9.9")), "deny list")
    assert.include(address(at("any.test"), "9.9.9.1"), "deny list")
    assert.include(address(at("any.test"), "9.9.9.9"), "deny list")
    assert.include(target(at("8.8.8.8", 53)), "deny list")
    assert.isUndefined(target(at("8.8.8.8", 443)))
  })

  it("lets a host that cannot pin reach the allow list alone", () => {
    const { target } = policy({ allow: ["api.test", "10.0.0.1"], deny: ["sub.api.test"], pinned: false })
    assert.isUndefined(target(at("api.test")))
    assert.isUndefined(target(at("10.0.0.1")))
    assert.include(target(at("other.test")), "not on the channel's allow list")
    assert.include(target(at("8.8.8.8")), "not on the channel's allow list")
  })

  it("refuses an address that it does not understand", () =>
    assert.include(policy().address(at("shop.test"), "fe80::1%eth0"), "no address"))

  it.each(["localhost", "localhost:80", "*.a.test", "a.test:65535", "::1", "[::1]", "[::1]:80", "10.0.0.0/8", "1.2.3.4:1", "fc00::/7"])(
    "takes %s as an entry", (entry) => assert.isTrue(AddressPolicy.isEntry(entry)))

  it.each([
    "", "*", "a b", "http://a.test", "a.test/x", "a.test:0", "a.test:65536", "10.0.0.0/33", "[a.test]", "a.*.test", "user@a.test", "ä.test"
  ])(
    "does not take %j as an entry", (entry) => assert.isFalse(AddressPolicy.isEntry(entry)))
})
