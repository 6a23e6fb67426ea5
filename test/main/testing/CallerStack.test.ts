import { assert, describe, it } from "@effect/vitest"
import { Enzyme } from "systole"
import { expectCell, expectReceipt, TestSpace } from "systole/testing"
import { inspect } from "node:util"

const count = Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/count") })

/** The first frame of the error with which a test ends, as a runner prints it. */
const firstFrame = async (body: (space: TestSpace) => Promise<void>): Promise<string> => {
  try {
    await TestSpace.use([count], body)
  } catch (error) {
    const lines = inspect(error).split("\n")
    return lines.find((line) => /^\s+at /.test(line)) ?? lines.join("\n")
  }
  return "nothing failed"
}

describe("The stack of a failure in a test", () => {
  it("begins in the code of the test", async () => {
    const frames = {
      receipt: await firstFrame(async (space) => expectReceipt(await space.handled({ signal: "/signals/count" }), { value: "no" })),
      cell: await firstFrame((space) => expectCell(space, "/data/count", "no")),
      signal: await firstFrame(async (space) => void await space.handled({ signal: "no path" })),
      address: await firstFrame(async (space) => void await space.get("no address")),
      beats: await firstFrame(async (space) => void await space.until(space.space.handled({ signal: "/signals/count", at: { ms: 5 } })))
    }
    for (const [name, frame] of Object.entries(frames)) assert.include(frame, "CallerStack.test.ts", name)
  })

  it("has the message of the failure above it", () =>
    TestSpace.use([], async (space) => {
      const error = await space.get("no address").then(() => undefined, (error: unknown) => error)
      assert.match(inspect(error), /^InvalidAddress: "no address" is not an address: /)
    }))
})
