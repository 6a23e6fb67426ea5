import { assert, describe, it } from "@effect/vitest"
import { Selection, Transport } from "systole"
import { MockNetwork } from "systole/testing"
import pipe from "../../plugins/pipe.ts"
import tcp from "../../plugins/tcp.ts"

const place = { root: "/", folder: "/", host: "node" } as const
const network = new MockNetwork()

/** The transports of the package. */
const shipped = Transport.make({ ...tcp.provides.transports, ...pipe.provides.transports }, place)
const all = [...shipped, network.transport(), network.transport("mock-sync")]

const select = (wanted: Partial<Selection.Wanted>, transports: ReadonlyArray<Pick<Transport.Transport, "caps" | "id">> = all) => {
  const selected = Selection.select(transports, { required: [], preferred: [], upd_latest: false, ...wanted })
  return "ids" in selected ? selected.ids.join(" ") : selected.failure
}

/** Requests, each with the transports to open in their order, or the topic of the failure. */
const table: ReadonlyArray<readonly [wanted: Partial<Selection.Wanted>, selected: string]> = [
  [{ required: ["reliable", "remote_net"] }, "tcp"],
  [{ required: ["local_ipc", "reliable"] }, "pipe"],
  [{ required: ["local_ipc"], preferred: ["low_latency"] }, "pipe mock mock-sync"],
  [{ required: ["ordered", "local_ipc"], upd_latest: true }, "mock mock-sync"],
  [{ required: ["ordered", "local_ipc", "send_async"], upd_latest: true }, "mock"],
  [{ required: ["multicast"] }, "tp_noprov"],
  [{ required: ["multicast"], upd_latest: true, provider: "mock" }, "tp_noprov"],
  [{ required: ["reliable"], upd_latest: true }, "tp_policy_violation"],
  [{ required: ["remote_net"], upd_latest: true, provider: "tcp" }, "tp_policy_violation"],
  [{}, "mock mock-sync pipe tcp"],
  [{ preferred: ["aead", "aead", "reliable", "ordered"] }, "tcp pipe mock mock-sync"]
]

describe("The selection of a transport", () => {
  it.each(table)("of %j is %s", (wanted, selected) => {
    assert.strictEqual(select(wanted), selected)
    assert.strictEqual(select(wanted, all.toReversed()), selected)
  })

  it("N46 takes the named provider before one with more preferred capabilities, and ignores one that does not fit", () => {
    const preferred = ["reliable", "ordered", "low_latency"] as const
    assert.strictEqual(select({ preferred }), "pipe tcp mock mock-sync")
    assert.strictEqual(select({ preferred, provider: "mock" }), "mock pipe tcp mock-sync")
    assert.strictEqual(select({ preferred, provider: "mock", required: ["reliable"] }), "pipe tcp")
    assert.strictEqual(select({ preferred, provider: "pipe", upd_latest: true }), "mock mock-sync")
    assert.strictEqual(select({ preferred, provider: "absent" }), "pipe tcp mock mock-sync")
  })

  it("fails without any transport", () => {
    assert.strictEqual(select({}, []), "tp_noprov")
  })
})

describe("The transports of a host", () => {
  const transport = network.transport()
  const made = (changed: object, host: Transport.Settings["host"] = "node") => () =>
    Transport.make({ mock: () => ({ ...transport, ...changed }) }, { ...place, host })

  it.each<[object, RegExp]>([
    [{ id: "other" }, /"mock" is refused: its id is "other"/],
    [{ caps: ["fast"] }, /capability "fast" does not exist/],
    [{ caps: ["reliable", "unreliable"] }, /both/],
    [{ maxFrame: 4095 }, /maxFrame is 4095/],
    [{ hosts: ["workers"] }, /works on workers and not on node/],
    [{ open: 1 }, /open is not a function/]
  ])("refuse by name one with %j", (changed, reason) => {
    assert.throws(made(changed), Transport.TransportRefused, reason)
  })

  it("refuse tcp and pipe on Workers, and take a mock there", () => {
    const providers = { ...tcp.provides.transports, ...pipe.provides.transports }
    const onWorkers = () => Transport.make(providers, { ...place, host: "workers" })
    assert.throws(onWorkers, /"tcp" is refused: it works on node, deno, bun and not on workers/)
    assert.lengthOf(made({}, "workers")(), 1)
  })

  it("get the options of their ids", () => {
    const seen: Array<unknown> = []
    const provide = (settings: Transport.Settings) => {
      seen.push(settings)
      return transport
    }
    Transport.make({ mock: provide }, { ...place, options: { mock: { a: 1 } } })
    assert.deepStrictEqual(seen, [{ ...place, id: "mock", options: { a: 1 } }])
    assert.throws(() => Transport.make(tcp.provides.transports ?? {}, { ...place, options: { tcp: { maxFrame: 1 } } }), /maxFrame/)
  })
})
