import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { join, relative } from "node:path"
import * as Checks from "./Checks.ts"
import { root } from "./Host.ts"
import { long } from "./Long.ts"
import type { Stage, Tests } from "./Step.ts"
import { selects } from "./Step.ts"

const files = ["test", "examples"]
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter(({ name, parentPath }) => name.endsWith(".test.ts") && !parentPath.includes("node_modules"))
  .map(({ name, parentPath }) => relative(root, join(parentPath, name)))

/** The files that no step of tests on Node runs. */
const missing = (stages: ReadonlyArray<Stage>): ReadonlyArray<string> => {
  const steps = stages.flat(2).filter((step): step is Tests => "selection" in step && "host" in step && step.host === "node")
  return files.filter((file) => !steps.some(({ selection }) => selects(selection, file)))
}

describe("The checks", () => {
  it("run each test file on Node", () => {
    assert.isAbove(files.length, 300)
    assert.deepStrictEqual(missing(Checks.all), [])
  })

  it("of a commit leave out the named suites and those of builds alone", () => {
    const built = files.filter((file) => file.startsWith("test/runtime/") || file.startsWith("test/package/"))
    assert.deepStrictEqual([...missing(Checks.fast)].sort(), [...Object.keys(long), ...built].sort())
  })

  it("of a commit run a suite in the place of each that they leave out", () => {
    for (const [suite, instead] of Object.entries(long)) {
      assert.includeMembers(files, [suite, instead])
      assert.notProperty(long, instead)
    }
  })

  it("select files by a part of the path, without the named files and folders", () => {
    assert.isTrue(selects({ files: ["test/cell/"] }, "test/cell/Value.test.ts"))
    assert.isFalse(selects({ files: ["test/cell/"] }, "test/kernel/Value.test.ts"))
    assert.isFalse(selects({ without: ["test/runtime/"] }, "test/runtime/Space.test.ts"))
    assert.isFalse(selects({ without: ["test/main/build/Build.test.ts"] }, "test/main/build/Build.test.ts"))
    assert.isTrue(selects({ without: ["test/main/build"] }, "test/main/build/Build.test.ts"))
  })
})
