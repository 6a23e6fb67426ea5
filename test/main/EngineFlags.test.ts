import { assert, describe, it } from "@effect/vitest"
import { syncBuiltinESMExports } from "node:module"
import v8 from "node:v8"
import type * as Node from "../../src/main/node.ts"

const flags: Array<string> = []

/** Notes the flags in place of setting them. */
const noting = async (act: () => unknown): Promise<void> => {
  const { setFlagsFromString } = v8
  v8.setFlagsFromString = (flag) => void flags.push(flag)
  syncBuiltinESMExports()
  try {
    await act()
  } finally {
    v8.setFlagsFromString = setFlagsFromString
    syncBuiltinESMExports()
  }
}

/** The module anew, whatever loaded it before. */
const loaded = (): Promise<typeof Node> => {
  const fresh = "../../src/main/node.ts?flags"
  return import(/* @vite-ignore */ fresh) as Promise<typeof Node>
}

describe("The flags of the engine on Node", () => {
  it("are set by no import", async () => {
    await noting(() => Promise.all([loaded(), import("systole")]))
    assert.deepStrictEqual(flags, [])
  })

  it("are those of a command line in a process of its own, and those of a server where it serves", async () => {
    const { platform } = await loaded()
    await noting(() => platform.begin?.())
    assert.deepStrictEqual(flags.splice(0), ["--no-concurrent-sparkplug"])
    await noting(() => platform.serving?.())
    assert.deepStrictEqual(flags.splice(0), ["--no-allocation-site-pretenuring"])
  })
})
