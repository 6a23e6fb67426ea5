import { assert, describe, it } from "@effect/vitest"
import { withCommand } from "../../src/main/BuiltProgram.ts"

describe("The command line of a build", () => {
  it("starts the project without a command, and takes global flags before one", () => {
    const starting = [[], ["--port", "4300"], ["--data", "space"], ["--env=production", "--port", "1"], ["--data"], ["--data", "a", "-x"]]
    for (const args of starting) assert.deepStrictEqual(withCommand(args), ["start", ...args])
    const others = [
      ["space", "ls"],
      ["--data", "a", "space", "ls"],
      ["--env=production", "--server", "https://shop.example", "cell", "get"],
      ["--version"],
      ["--data", "a", "--help"]
    ]
    for (const args of others) assert.deepStrictEqual(withCommand(args), args)
  })
})
