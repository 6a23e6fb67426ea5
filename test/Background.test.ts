import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Background from "./Background.ts"

const root = join(import.meta.dirname, "..")

/** The files of the runtime and of its plugins. */
const files = ["src", "plugins"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`))

describe("Work that no caller awaits", () => {
  it("starts in the listed places alone, each of which has an owner and a way for its failure", () => {
    assert.isAbove(files.length, 600)
    const found = files.flatMap((file) => {
      const starts = Background.startsIn(readFileSync(join(root, file), "utf8"))
      return starts.length === 0 ? [] : [`${file}: ${starts.join(" ")}`]
    })
    assert.deepStrictEqual(found.sort(), Background.all.map(({ file, starts }) => `${file}: ${starts.join(" ")}`).sort())
    for (const { failure, file, owner } of Background.all) assert.isAbove(Math.min(failure.length, owner.length), 5, file)
  })

  it("is found where it starts, and not in a text or a comment", () => {
    const starts = ["Effect.runFork(x)", "setTimeout(run, 1)", "host.fork(x)", "x.catch(() => {})", "void this.send(x)", "s.waitUntil(x)"]
    for (const code of starts) {
      assert.lengthOf(Background.startsIn(code), 1, code)
    }
    for (const code of ['"setTimeout(run)"', "// setTimeout(run)", "Scope.fork(x)", "x.setTimeout(1)", "x.catch(() => 1)"]) {
      assert.deepStrictEqual(Background.startsIn(code), [], code)
    }
  })
})
