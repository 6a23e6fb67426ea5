import { assert, describe, it } from "@effect/vitest"
import { dirname, join } from "node:path"
import * as Pages from "./Pages.ts"

/** A number of a page that leads to its constant, such as `[60 s](../kernel/space/DueSpaces.ts#RETRY_MAX)`. */
interface Cited {
  readonly text: string
  readonly file: string
  readonly name: string
}

const citedIn = (page: Pages.Page): ReadonlyArray<Cited> =>
  [...page.text.matchAll(/\[([^\]\n]+)\]\(([^)\s#]+\.ts)#(\w+)\)/g)]
    .map(([, text = "", file = "", name = ""]) => ({ text, file: join(Pages.folderOf(page), file), name }))

const units: Readonly<Record<string, number>> = {
  "": 1, ms: 1, s: 1000, seconds: 1000, minutes: 60_000, hour: 3_600_000, hours: 3_600_000, days: 86_400_000, KiB: 1024, MiB: 1_048_576
}

/** The amount of a text such as `1,000`, `16 MiB`, `60 s` or `an hour`. */
const amountOf = (text: string): number => {
  const [, digits = "", unit = "none"] = /^(?:an )?([\d,]*) ?([A-Za-z]*)$/.exec(text) ?? []
  return Number(digits.replaceAll(",", "") || 1) * (units[unit] ?? Number.NaN)
}

/** The file from which a file imports a name. */
const importOf = ({ path, text }: Pages.Page, name: string): string =>
  join(dirname(path), new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`, "m").exec(text)?.[1] ?? "absent")

/** The value of a constant, or of a row in a table of defaults: a product of numbers and constants. */
const valueOf = (file: Pages.Page, name: string): number => {
  const form = new RegExp(`^(?:export )?const ${name} = ([\\w *]+)$|^ +${name}: \\{ default: ([\\w *]+)`, "m")
  const [, constant, row] = form.exec(file.text) ?? []
  const product = constant ?? row
  if (product === undefined) return valueOf(Pages.read(importOf(file, name)), name)
  const factors = product.split("*").map((factor) => factor.trim())
  return factors.reduce((all, factor) => all * (/^\d/.test(factor) ? Number(factor.replaceAll("_", "")) : valueOf(file, factor)), 1)
}

/** Whether a constant counts seconds in place of milliseconds. */
const isInSeconds = ({ name }: Cited): boolean => /SECONDS$|TOLERANCE$/.test(name)

describe("The limits on pages", () => {
  const cited = Pages.all().flatMap((page) => citedIn(page).map((limit) => ({ ...limit, page: page.path })))

  it("are found", () => assert.isAbove(cited.length, 20))

  it("are those of the constants to which they lead", () => {
    const wrong = cited.flatMap((limit) => {
      const value = valueOf(Pages.read(limit.file), limit.name) * (isInSeconds(limit) ? 1000 : 1)
      return value === amountOf(limit.text) ? [] : [`${limit.page}: ${limit.text} is ${value} by ${limit.name} in ${limit.file}`]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("are compared with their units", () => {
    const amounts = ["1,000", "60 s", "16 MiB", "5 ms", "an hour", "5 minutes"].map(amountOf)
    assert.deepStrictEqual(amounts, [1000, 60_000, 16_777_216, 5, 3_600_000, 300_000])
    assert.isNaN(amountOf("a few"))
    const text = "export const DAY = 86_400_000\nconst LATEST = 7 * DAY\n  beats: { default: 64 },"
    assert.deepStrictEqual(["DAY", "LATEST", "beats"].map((name) => valueOf({ path: "a.ts", text }, name)), [86_400_000, 604_800_000, 64])
  })
})
