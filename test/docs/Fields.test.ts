import { assert, describe, it } from "@effect/vitest"
import { defaults, type Retention } from "systole"
import type * as Config from "../../src/loader/Config.ts"
import * as Pages from "./Pages.ts"

/** The defaults that a page gives, by the fields of its tables. */
const rowsOf = (text: string): ReadonlyMap<string, string> => {
  const found = text.matchAll(/^\| `([\w.]+)` \| (.+?) \| .+ \|$/gm)
  return new Map([...found].map(([, field = "", value = ""]) => [field, value]))
}

const rows = rowsOf(Pages.read("src/loader/README.md").text)

/** The fields of a configuration; the compiler knows whether one is missing. */
const fields: { readonly [field in keyof Required<Config.Definition>]: ReadonlyArray<string> } = {
  agent: ["file", "space", "timezone", "timeout", "attempts", "budget", "reset", "maxConcurrent", "approval", "profiles"],
  enzymes: [],
  plugins: [],
  without: [],
  persistence: [], content: [], channels: [], reactor: [], ingress: [], access: [], key: [], backup: [], origins: [],
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
  spaces: ["create", "open", "idleMillis", "first"],
  pages: [],
  labels: [],
  environments: [],
  retention: Object.keys({ journalMillis: 0, journalBytes: 0, receiptMillis: 0, contentMillis: 0 } satisfies Retention),
  limits: Object.keys(defaults)
}

describe("The page on the configuration", () => {
  it("has a row for each field, and no other", () => {
    const named = Object.entries(fields).flatMap(([field, parts]) => [field, ...parts.map((part) => `${field}.${part}`)])
    assert.sameMembers(["spaces", ...rows.keys()], named)
  })
})
