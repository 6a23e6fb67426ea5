import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { topics } from "systole"
import { root } from "../scripts/Host.ts"

const readme = readFileSync(join(root, "src/diagnostic/README.md"), "utf8")

/** The rows of the table of topics. */
const rows = Array.from(
  readme.matchAll(/^\| `([a-z]+[-_./][a-z-_./]+)` \| `(sev:[a-z]+)` \| (.+?) \| (.+?) \|$/gm),
  ([, topic, severity, means, remedy]) => ({ topic, severity, means, remedy })
)

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/^diagnostic\/Topic(?:Reference)?\.ts$/.test(file))
  .map((file) => readFileSync(join(root, "src", file), "utf8"))
  .join("\n")

describe("Topics", () => {
  it("are each on the page of diagnostics, with what they mean and what to do, in the same words", () => {
    const listed = Object.entries(topics).map(([topic, { means, remedy, severity }]) => ({ topic, severity, means, remedy }))
    assert.deepStrictEqual(rows, listed)
  })

  it("stand in the order of their names, and each is told somewhere", () => {
    const names = Object.keys(topics)
    assert.deepStrictEqual(names, [...names].sort())
    for (const name of names) assert.include(sources, `"${name}"`, name)
  })
})
