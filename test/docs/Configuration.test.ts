import { assert, describe, it } from "@effect/vitest"
import { defaults, type Retention } from "systole"
import type * as Config from "../../src/loader/Config.ts"
import * as Pages from "./Pages.ts"

const { text } = Pages.read("src/loader/README.md")
const found = text.matchAll(/^\| `([\w.]+)` \| (.+?) \| .+ \|$/gm)
const rows = new Map([...found].map(([, field = "", value = ""]) => [field, value]))

/** The fields of a configuration; the compiler knows whether one is missing. */
const fields: { readonly [field in keyof Required<Config.Definition>]: ReadonlyArray<string> } = {
  enzymes: [],
  plugins: [],
  persistence: [],
  data: [],
  host: [],
  port: [],
  token: [],
  tempo: [],
  ledgers: [],
  boot: [],
  check: [],
  isolation: [],
  system: [],
  spaces: ["create", "open"],
  pages: [],
  labels: [],
  retention: Object.keys({ journalMillis: 0, journalBytes: 0, receiptMillis: 0, contentMillis: 0 } satisfies Retention),
  limits: Object.keys(defaults)
}

describe("The page on the configuration", () => {
  it("has a row for each field, and no other", () => {
    const named = Object.entries(fields).flatMap(([field, parts]) => [field, ...parts.map((part) => `${field}.${part}`)])
    assert.sameMembers(["spaces", ...rows.keys()], named)
  })

  it("gives the default of every limit", () => {
    for (const [name, value] of Object.entries(defaults)) assert.strictEqual(rows.get(`limits.${name}`), value.toLocaleString("en"), name)
  })
})
