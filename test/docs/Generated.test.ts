import { assert, describe, it } from "@effect/vitest"
import * as Generated from "./Generated.ts"
import * as Pages from "./Pages.ts"

const pages = Pages.all().filter((page) => Generated.partsOf(page).length > 0)

describe("The generated pages", () => {
  it("are the references of routes, commands, limits, fields, topics, codes and metrics", () => {
    assert.deepStrictEqual(pages.map((page) => [page.path, ...Generated.partsOf(page)]), [
      ["enzymes/README.md", "enzyme"],
      ["src/cli/README.md", "exits", "commands"],
      ["src/diagnostic/README.md", "topics", "codes"],
      ["src/diagnostic/TELEMETRY.md", "metrics"],
      ["src/ingress/README.md", "routes"],
      ["src/loader/README.md", "limits"],
      ["test/README.md", "simulation"]
    ])
  })

  it.each(pages)("$path is what `npm run docs` makes of it", async (page) => {
    assert.strictEqual(page.text, await Generated.render(page))
  })
})
