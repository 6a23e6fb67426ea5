import { assert, describe, it } from "@effect/vitest"
import { defaults, Enzyme, type Retention } from "systole"
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
  persistence: [], content: [], channels: [], reactor: [],
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
  environments: [],
  retention: Object.keys({ journalMillis: 0, journalBytes: 0, receiptMillis: 0, contentMillis: 0 } satisfies Retention),
  limits: Object.keys(defaults)
}

/** The fields of an enzyme, and those of them without a fixed default. */
const enzyme: { readonly [field in keyof Required<Enzyme.Definition>]: "fixed" | "free" } = {
  name: "free",
  query: "free",
  run: "free",
  label: "free",
  match: "fixed",
  bind: "fixed",
  target: "free",
  before: "fixed",
  after: "fixed",
  payload: "free",
  reads: "fixed",
  writes: "free",
  retry: "free",
  lane: "fixed",
  order: "fixed",
  isolation: "free",
  repeatable: "fixed",
  exclusive: "fixed",
  durable: "fixed",
  hears: "fixed",
  onMissing: "fixed",
  onFatal: "fixed",
  onDead: "free",
  trusted: "fixed",
  limitMs: "fixed"
}

describe("The page on enzymes", () => {
  const { text } = Pages.read("enzymes/README.md")
  const given = rowsOf(text.slice(text.indexOf("## Fields of an enzyme")))

  it("has a row for each field, and no other", () => {
    assert.sameMembers([...given.keys()], Object.keys(enzyme))
  })

  it("gives the defaults", () => {
    const made = Enzyme.make({ name: "a", query: "", run: () => undefined })
    const fixed = Object.entries(enzyme).flatMap(([field, kind]) => kind === "fixed" ? [field as keyof typeof made] : [])
    for (const field of fixed) assert.strictEqual(given.get(field), `\`${JSON.stringify(made[field])}\``, field)
  })
})

describe("The page on the configuration", () => {
  it("has a row for each field, and no other", () => {
    const named = Object.entries(fields).flatMap(([field, parts]) => [field, ...parts.map((part) => `${field}.${part}`)])
    assert.sameMembers(["spaces", ...rows.keys()], named)
  })
})
