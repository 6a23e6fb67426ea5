import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"

const flags: Array<string> = []

vi.mock("node:v8", async (original) => ({ ...await original<object>(), setFlagsFromString: (flag: string) => void flags.push(flag) }))

const { platform } = await import("../../src/main/node.ts")
await import("systole")

describe("The flags of the engine on Node", () => {
  it("are set by no import", () => {
    assert.deepStrictEqual(flags, [])
  })

  it("are those of a command line in a process of its own, and those of a server where it serves", () => {
    platform.begin?.()
    assert.deepStrictEqual(flags.splice(0), ["--no-concurrent-sparkplug"])
    platform.serving?.()
    assert.deepStrictEqual(flags.splice(0), ["--no-allocation-site-pretenuring"])
  })
})
