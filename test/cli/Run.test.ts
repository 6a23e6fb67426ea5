import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const approve = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "approve",
  query: "/signals/placed",
  durable: true,
  hears: [{ signal: "/signals/approved", target: "/data/order" }],
  run: async (tx) => {
    tx.set("/data/order", "placed")
    return (await tx.waitForSignal("/signals/approved", "/data/order")).payload
  }
})
`
const config = `export default { spaces: { create: "on-demand" } }\n`

/** A run in a list. */
interface Row {
  readonly oid: string
  readonly state: string
}

describe("systole run", () => {
  it.live("lists, shows, cancels and sends runs again", () =>
    Effect.flatMap(terminal({ "enzymes/approve.ts": approve, "systole.config.ts": config }), ({ json, run, serve }) =>
      Effect.promise(async () => {
        const server = await serve("dev")
        await json("signal", "shop", "--signal", "/signals/placed")
        // A signal that no enzyme takes is settled by a later beat, or by the same one.
        await run("signal", "shop", "--signal", "/signals/none", "--wait", "60")
        const [{ oid = "", state }] = await json("run", "ls", "shop") as readonly [Row]
        assert.strictEqual(state, "waiting")
        assert.include((await run("run", "ls", "shop")).stdout, "/signals/approved /data/order since beat")
        const shown = (await run("run", "show", "shop", oid)).stdout
        assert.include(shown, "#/segment/0")
        assert.include(shown, "tx.set(\"/data/order\")")
        assert.include((await run("run", "cancel", "shop", oid, "--now")).stdout, `cancelled ${oid} in beat`)
        assert.include((await run("run", "ls", "shop")).stdout, "dead run/cancelled")
        const again = await run("run", "cancel", "shop", oid)
        assert.deepStrictEqual([again.code, again.stderr.includes("run/state")], [1, true])
        assert.include((await run("run", "retry", "shop", oid, "--anew")).stdout, `sent ${oid} again in beat`)
        await run("signal", "shop", "--signal", "/signals/none", "--wait", "60")
        await run("signal", "shop", "--signal", "/signals/approved", "--target", "/data/order", "--wait", "60")
        assert.deepStrictEqual(await json("run", "ls", "shop"), [])
        assert.deepStrictEqual((await json("run", "ls", "shop", "--all") as ReadonlyArray<Row>).map(({ state }) => state), ["over"])
        const absent = await run("run", "show", "shop", "OPS:9.9.9")
        assert.deepStrictEqual([absent.code, absent.stderr.includes("run/absent")], [3, true])
        assert.include((await run("journal", "verify", "shop")).stdout, "entries hold")
        assert.include((await run("replay", "shop")).stdout, "came out the same")
        await server.stop("SIGTERM")
      })))
})
