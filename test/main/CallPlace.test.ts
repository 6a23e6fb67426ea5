import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import * as CallPlace from "../../src/main/guard/CallPlace.ts"
import * as SourceMaps from "../../src/main/module/SourceMaps.ts"
import { root } from "../scripts/Host.ts"

/** A stack with frames at these places. */
const stack = (...places: ReadonlyArray<string>): string => ["Error: no", ...places.map((place) => `    at run (${place})`)].join("\n")

const own = [
  "src/kernel/beat/step/Run.ts:1:2", "plugins/http.ts:3:4", "enzymes/remind.ts:5:6", "dist/command/chunk-A1.js:7:8", "dist/src/index.js:1:1"
]
const packages = ["systole/dist/command/index.js:1:1", "effect/dist/Effect.js:1:1"].map((place) => `/home/ann/shop/node_modules/${place}`)
const user = "/home/ann/shop/enzymes/greet.ts:12:7"

describe("The place of a call", () => {
  it("is never in the runtime, its plugins and enzymes, or a package", () => {
    const frames = own.map((place) => `file://${join(root, place)}`)
    assert.strictEqual(CallPlace.find({ stack: stack(...frames, ...packages, user) }), user)
    assert.isUndefined(CallPlace.find({ stack: stack(...frames, ...packages) }))
    // A project may lie in the folder of the package, as the examples do.
    assert.strictEqual(CallPlace.find({ stack: stack(join(process.cwd(), "examples/shop/page.ts:1:1")) }), "examples/shop/page.ts:1:1")
  })

  it("leaves the frames of the runtime out of a stack", () => {
    const frames = own.map((place) => join(root, place))
    assert.strictEqual(CallPlace.withoutOwn(stack(...frames, user, ...packages)), stack(user))
  })

  it("is that of the project where a plugin of the package failed, which is bundled like a module", () => {
    const project = mkdtempSync(join(tmpdir(), "systole-place-"))
    try {
      const folder = join(project, ".systole", "modules")
      mkdirSync(folder, { recursive: true })
      const sources = { "a1.mjs": relative(project, join(root, "plugins/http.ts")), "a2.mjs": "enzymes/greet.ts" }
      for (const [bundle, source] of Object.entries(sources)) {
        writeFileSync(join(folder, `${bundle}.map`), JSON.stringify({ version: 3, sources: [source], names: [], mappings: "AAAA" }))
      }
      const error = Object.assign(new Error("no"), { stack: stack(...Object.keys(sources).map((bundle) => `${join(folder, bundle)}:1:1`)) })
      assert.strictEqual(SourceMaps.place(error)?.place, "enzymes/greet.ts:1:1")
    } finally {
      rmSync(project, { recursive: true })
    }
  })
})
