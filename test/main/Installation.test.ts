import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Installation from "../../src/main/module/Installation.ts"
import { root } from "../scripts/Host.ts"

/** Exports that no module of a project shares with the command. */
const apart = ["./client", "./contract", "./embed", "./guards", "./package.json", "./react", "./rich", "./workers"]

describe("Installation", () => {
  it("finds the modules that a project shares with the command", () => {
    for (const name of ["systole", "systole/testing", "systole/plugins/sqlite"]) {
      assert.isTrue(existsSync(Installation.ownFile(name) ?? ""), name)
    }
    for (const name of ["systole/kernel", "systole/plugins/../x", "systolic", "effect"]) {
      assert.isUndefined(Installation.ownFile(name), name)
    }
  })

  it("knows each name without a pattern that the package exports, but for those that share no value with the command", () => {
    const text = readFileSync(join(root, "package.json"), "utf8")
    const { exports } = JSON.parse(text) as { readonly exports: Readonly<Record<string, unknown>> }
    const names = Object.keys(exports).filter((name) => !name.includes("*") && !apart.includes(name))
    assert.deepStrictEqual(names.filter((name) => Installation.ownFile(name.replace(".", "systole")) === undefined), [])
  })

  it("tells plugins from other modules", () => {
    assert.isTrue(existsSync(Installation.pluginFile("systole/plugins/memory") ?? ""))
    for (const name of ["systole", "systole/testing", "memory"]) assert.isUndefined(Installation.pluginFile(name), name)
  })
})
