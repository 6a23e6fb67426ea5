import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { node, root } from "./Host.ts"
import * as Options from "./Options.ts"
import { run } from "./Process.ts"

const usage = {
  script: "race",
  about: "Runs a race.",
  others: "[RUNNER …]",
  options: {
    laps: Options.whole("The number of laps", 3, 1),
    minutes: Options.minutes("The longest time", undefined),
    track: Options.choice("TRACK", "The track", { among: ["oval", "hill"] as const, absent: "oval" }),
    judge: Options.choices("JUDGE", "A judge; more than once for several", ["ann", "bob"]),
    fast: Options.flag("Leaves out the breaks")
  }
}

const parsed = (...args: ReadonlyArray<string>) => Options.parse(usage, args)
const refused = (...args: ReadonlyArray<string>) => (parsed(...args) as { readonly refused?: string }).refused

describe("The options of a script", () => {
  it("have their values, and those that stand without them", () => {
    const absent = { laps: 3, minutes: undefined, track: "oval" as const, judge: ["ann", "bob"], fast: false }
    assert.deepStrictEqual(parsed(), { values: absent, others: [] })
    assert.deepStrictEqual(
      parsed("--", "zoe", "--laps", "4", "--minutes=0.5", "--track", "hill", "--judge", "bob", "--fast"),
      { values: { laps: 4, minutes: 0.5, track: "hill", judge: ["bob"], fast: true }, others: ["zoe"] }
    )
  })

  it("are told by --help", () => {
    assert.deepStrictEqual(parsed("--laps", "no", "--help"), {
      help: `npm run race -- [RUNNER …] [--laps N] [--minutes MINUTES] [--track TRACK] [--judge JUDGE] [--fast]

Runs a race.

  --laps N           The number of laps (3 without it)
  --minutes MINUTES  The longest time
  --track TRACK      The track (oval without it)
  --judge JUDGE      A judge; more than once for several
  --fast             Leaves out the breaks
  --help             Prints this text`
    })
  })

  it("are refused if the script does not have them, with those that it has", () => {
    const all = "--laps, --minutes, --track, --judge, --fast, --help"
    assert.strictEqual(refused("--lap", "3"), `npm run race has no option --lap; it has ${all}`)
    assert.include(refused("--toString"), "has no option --toString")
    const alone = Options.parse({ script: "race", about: "Runs a race.", options: {} }, ["zoe"])
    assert.deepStrictEqual(alone, { refused: "npm run race takes no \"zoe\"; it has --help" })
  })

  it("are refused with a wrong value, with what to give", () => {
    assert.strictEqual(refused("--laps"), "--laps has no value; give --laps N")
    assert.strictEqual(refused("--laps", "0"), "--laps: it is \"0\"; give a whole number from 1 up")
    for (const laps of ["", "1.5", "x", "1e99"]) assert.include(refused("--laps", laps), "give a whole number", laps)
    for (const minutes of ["0", "-1", "", "Infinity"]) assert.include(refused(`--minutes=${minutes}`), "give a number above 0", minutes)
    assert.strictEqual(refused("--track", "lake"), "--track: there is no track \"lake\"; there are oval, hill")
    assert.strictEqual(refused("--judge", "ann", "--judge", "eve"), "--judge: there is no judge \"eve\"; there are ann, bob")
    assert.strictEqual(refused("--fast=yes"), "--fast takes no value, and \"yes\" stands behind it")
  })
})

describe("The scripts of package.json", () => {
  const read = (file: string): string => readFileSync(join(root, file), "utf8")
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
  const own = Object.entries(scripts).flatMap(([name, line]) => {
    const [, file] = /^node test\/scripts\/run\.mjs (\S+)$/.exec(line) ?? []
    return file === undefined ? [] : [[name, file] as const]
  })

  it("read their arguments as options, all but the one that hands them to the command", () => {
    const silent = own.filter(([name, file]) => {
      const text = read(`test/scripts/${file}.ts`)
      return !text.replaceAll(/\s+/g, " ").includes(`Options.read({ script: "${name}",`)
    })
    assert.deepStrictEqual(silent.map(([name]) => name), ["start"])
  })

  it("end after --help, and at a wrong option without a stack trace", async () => {
    const help = await run([node(), "test/scripts/run.mjs", "soak", "--help"])
    assert.strictEqual(help.code, 0)
    assert.match(help.output, /^npm run soak -- \[--minutes MINUTES\] \[--seed N\] \[--watchers N\]\n/)
    const wrong = await run([node(), "test/scripts/run.mjs", "soak", "--second", "3"])
    const told = "npm run soak has no option --second; it has --minutes, --seed, --watchers, --help\n"
    assert.deepStrictEqual([wrong.code, wrong.output], [2, told])
  })
})
