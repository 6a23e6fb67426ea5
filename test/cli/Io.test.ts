import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Follow from "../support/Follow.ts"
import { terminal } from "./Terminal.ts"

const wait = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "wait",
  query: "/signals/wait",
  match: "prefix",
  run: (tx, { payload, signal }) => {
    if (signal === "/signals/wait/over") return tx.set("/data/over/" + payload.rid.replaceAll(":", "-"), payload.state)
    return tx.io.request({ channel: "timer", opcode: "sleep", payload, signal: "/signals/wait/over" })
  }
})
`
const config = `export default { channels: { timer: "timer" }, spaces: { create: "on-demand" } }\n`

/** A request in a list. */
interface Row {
  readonly rid: string
  readonly state: string
  readonly code?: string
}

/** A receipt of the enzyme, with the id of its request. */
interface Receipt {
  readonly handlings: ReadonlyArray<{ readonly value: string }>
}

describe("systole io", () => {
  it.live("lists, shows and cancels requests, and lists channels and drains", () =>
    Effect.flatMap(terminal({ "enzymes/wait.ts": wait, "systole.config.ts": config }), ({ json, run, serve }) =>
      Effect.promise(async () => {
        const server = await serve("dev")
        const request = async (ms: number): Promise<string> => {
          const payload = JSON.stringify({ ms })
          const receipt = await json("signal", "shop", "--signal", "/signals/wait", "--payload", payload, "--wait", "60") as Receipt
          return receipt.handlings[0]?.value ?? ""
        }
        const long = await request(3_600_000)
        const short = await request(0)
        const [channel] = await json("io", "channels", "shop") as ReadonlyArray<object>
        assert.deepInclude(channel, { channel: "timer", provider: "timer", opcodes: { sleep: true }, shim: false })
        assert.include((await run("io", "channels", "shop")).stdout, "sleep*")
        assert.deepInclude(await json("io", "show", "shop", long) as object, { state: "pending", payload: { ms: 3_600_000 } })
        assert.deepStrictEqual((await json("io", "ls", "shop", "--open") as ReadonlyArray<Row>).map(({ rid }) => rid), [long])
        assert.include((await run("io", "cancel", "shop", long)).stdout, `cancelled ${long} in beat`)
        const rows = await json("io", "ls", "shop") as ReadonlyArray<Row>
        assert.deepInclude(rows.find(({ rid }) => rid === long), { state: "cnl", code: "io/cancelled" })
        const page = await run("io", "ls", "shop", "--limit", "1")
        assert.include(page.stdout, "sleep")
        assert.include(page.stderr, "--after timer:")
        const drained = await json("debug", "io", "shop") as ReadonlyArray<object>
        assert.deepInclude(drained[0], { channel: "timer", rid: short, outcome: "ok", attempt: 1 })
        assert.include((await run("debug", "io", "shop")).stdout, short)
        const again = await run("io", "cancel", "shop", long)
        assert.deepStrictEqual([again.code, again.stderr.includes("io/finished")], [1, true])
        const absent = await run("io", "show", "shop", "timer:9.9.9")
        assert.deepStrictEqual([absent.code, absent.stderr.includes("io/request-absent")], [3, true])
        await server.stop("SIGTERM")
      })))
})

const sleepy = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "sleepy",
  query: "/signals/sleepy",
  durable: true,
  run: async (tx) => {
    const { rid } = await tx.io.request({ channel: "timer", opcode: "sleep", payload: { ms: 1 } })
    tx.set("/data/slept", rid)
  }
})
`

describe("systole why", () => {
  it.live("goes over the result of a request back to the signal on which it was asked for", () =>
    Effect.flatMap(terminal({ "enzymes/wait.ts": wait, "enzymes/nap.ts": sleepy, "systole.config.ts": config }), ({ json, run, serve }) =>
      Effect.promise(async () => {
        const server = await serve("dev")
        const receipt = await json("signal", "shop", "--signal", "/signals/wait", "--payload", "{\"ms\":1}", "--wait", "60") as Receipt
        const cell = `/data/over/${receipt.handlings[0]?.value.replaceAll(":", "-")}`
        await Follow.until<string | null>(`${server.url}/v1/spaces/shop/cells${cell}`, (state) => state === "complete")
        const asked = (await run("why", "shop", cell)).stdout
        assert.match(asked, /on \S+ \/signals\/wait\/over .* sent by commit, the result of request timer:/)
        assert.match(asked, /\(timer sleep: complete\), asked for in beat \d+ by wait/)
        assert.match(asked, /on x\.\S+ \/signals\/wait in beat \d+, from outside/)
        await run("signal", "shop", "--signal", "/signals/sleepy", "--wait", "60")
        const awaited = (await run("why", "shop", "/data/slept")).stdout
        assert.match(awaited, /took the result of request timer:\S+ \(timer sleep: complete\), asked for in beat \d+ by sleepy/)
        assert.match(awaited, /on x\.\S+ \/signals\/sleepy in beat \d+, from outside/)
      })))
})
