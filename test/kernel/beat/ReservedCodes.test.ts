import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { replays } from "../TestSpace.ts"

const few = { retry: { attempts: 2 } } as const

/** The ways in which a body ends with a value. */
const ways = {
  throws: (error: object) => Enzyme.make({ ...few, name: "throws", query: "/signals/throws", run: () => {
    throw error
  } }),
  fails: (error: object) => Enzyme.make({ ...few, name: "fails", query: "/signals/fails", run: () => Effect.fail(error) }),
  waits: (error: object) => Enzyme.make({ ...few, name: "waits", query: "/signals/waits", durable: true, run: async (tx: Transaction) => {
    await tx.sleep(0)
    throw error
  } })
}

/** The code of each way, and the number of its segments in the log. */
const ended = async (error: object) => {
  const codes: Array<unknown> = []
  for (const [name, way] of Object.entries(ways)) {
    await TestSpace.use([way(error)], async (space) => {
      const receipt = await space.handled({ signal: `/signals/${name}` })
      codes.push(receipt.handlings[0]?.error?.code)
      if (name === "waits") codes.push((await space.list(`/rt/ops/${(await space.list("/rt/ops"))[0]}/step`)).length)
      await space.run(replays(space.space))
    })
  }
  return codes
}

describe("An error of a body with a code of the runtime", () => {
  it("has the code of a failure, tagged or not", async () => {
    const names = ["space/stopped", "store/damaged", "run/cancelled", "run/taken-back", "run/stale", "run/timeout", "node/gated"]
    for (const code of names) {
      for (const error of [{ code }, { code, _tag: "Mine" }]) {
        assert.deepStrictEqual(await ended(error), ["run/failed", "run/failed", "run/failed", 1], JSON.stringify(error))
      }
    }
  })

  it("is attempted again if it asks for that, and not held for ever", async () => {
    const codes = await ended({ code: "node/gated", _tag: "Retry" })
    assert.deepStrictEqual(codes, ["run/failed", "run/failed", "run/failed", 1])
  })

  it("keeps a code of its own", async () => {
    assert.deepStrictEqual(await ended({ code: "order/closed", _tag: "Closed" }), ["order/closed", "order/closed", "order/closed", 1])
  })
})
