import { assert, describe, it } from "@effect/vitest"
import type { Contents } from "../../../src/main/build/BuildContents.ts"
import { builtModule, targets } from "../../../src/main/build/BuildTarget.ts"

const module = (file: string, hash: string, typed: ReadonlyArray<string> = []) => ({ file, hash, hostImports: [], text: "", typed })

const contents: Contents = {
  version: "0.1.0",
  environment: undefined,
  settings: { access: {}, ingress: {}, pages: {}, parts: {}, readers: [] } as unknown as Contents["settings"],
  slices: [],
  modules: [module("enzymes/a.ts", "aa", ["Orders", "Place"]), module("enzymes/b.ts", "bb")],
  commands: [],
  pages: undefined,
  scripts: {},
  isTyped: true,
  hasCron: false,
  kept: []
}

describe("The generated module of a build", () => {
  it("imports the default export of each file, and its exports with a type", () => {
    const text = builtModule(targets.workers, contents)
    assert.include(text, "import m0, { \"Orders\" as m0_0, \"Place\" as m0_1 } from \"systole-module:aa\"\n")
    assert.include(text, "import m1 from \"systole-module:bb\"\n")
    assert.include(text, "\"enzymes/a.ts\": { module: m0, typed: { \"Orders\": m0_0, \"Place\": m0_1 }, hash: \"aa\" },\n")
    assert.include(text, "\"enzymes/b.ts\": { module: m1, hash: \"bb\" }\n")
  })
})
