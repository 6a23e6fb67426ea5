import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const kernel = join(root, "src/kernel")

/** The maximum number of files of the rooms of the beat together. */
const MAX_FILES = 30

/** The maximum number of members of a class or an interface. */
const MAX_MEMBERS = 40

/** The files that take the whole state of an open space: its maker, its loop, and those that hand parts of it on. */
const WHOLE = new Set([
  "beat/loop/LiveState.ts", "beat/loop/GroupCommit.ts", "beat/loop/OutputBarrier.ts", "live/LiveSpace.ts", "live/Recovery.ts",
  "space/Spaces.ts"
])

/**
 * The objects beyond the kernel with more members, and their number. A transaction has a member for each verb of a run. A store
 * implements the port, which has 35. The scheduler's have the state of a pass at hand, whose speed depends on it. A wake of the agent
 * and the requests of a space are one sequence each.
 */
const LARGER: Readonly<Record<string, number>> = {
  DurableTransaction: 62, Draft: 62,
  GroupStore: 51, MemoryBackend: 50, SqlBackend: 60,
  Graph: 43, Locations: 43, Run: 44, Settle: 46, SpaceScheduler: 46,
  LiveRequests: 44, WakeState: 53
}

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))

const files = filesBelow(kernel)

/** Matches strings, templates and comments as wholes. */
const lexeme = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/.*$/gm

/** A file without its comments. */
const codeOf = (file: string, folder = kernel): string =>
  readFileSync(join(folder, file), "utf8").replace(lexeme, (found) => found.startsWith("/") ? "" : found)

/** A class or an interface with its body, and the beginning of a member in it. */
const OBJECT = /^(?:export )?(?:abstract )?(?:class|interface) (\w+)[^\n]*\{\n([\s\S]*?)^\}/gm
const MEMBER = /^ {2}(?:(?:readonly|private|static|override|async|get|set|\*) ?)*[\w[]+[?!]?(?: ?[(:<=;]|$)/gm

/** The objects of a file with the number of their members; an accessor for reads and writes is one member. */
const objectsOf = (file: string, folder = kernel): ReadonlyArray<readonly [name: string, members: number]> =>
  Array.from(codeOf(file, folder).matchAll(OBJECT), ([, name = "", body = ""]) =>
    [name, new Set(Array.from(body.matchAll(MEMBER), ([member]) => /\w+(?=\W*$)/.exec(member)?.[0])).size])

const objects = files.flatMap((file) => objectsOf(file))

describe("The rooms of the kernel", () => {
  it("have at most 30 files in those of the beat together", () => {
    assert.isAtMost(files.filter((file) => file.startsWith("beat/")).length, MAX_FILES)
  })

  it("have no object of over 40 members", () => {
    assert.isAbove(objects.length, 300)
    assert.deepStrictEqual(objects.filter(([, members]) => members > MAX_MEMBERS), [])
    assert.isAtMost(Object.fromEntries(objects)["LiveSpace"] ?? Infinity, 20)
    assert.notMatch(codeOf("live/LiveSpace.ts"), /^ {2}readonly \w+: LiveState$/m)
  })

  it("name the members that they take of the state of an open space", () => {
    const takers = files.filter((file) => !WHOLE.has(file)).filter((file) => codeOf(file).includes("LiveState"))
    assert.isAbove(takers.length, 10)
    const whole = takers.filter((file) => /\bLiveState\b(?![,[])/.test(codeOf(file).replaceAll(/^import .*$/gm, "")))
    assert.deepStrictEqual(whole, [])
  })
})

describe("The objects beyond the kernel", () => {
  it("have at most 40 members, but for those of the list", () => {
    const all = ["src", "plugins"].flatMap((name) => {
      const folder = join(root, name)
      return filesBelow(folder).flatMap((file) => objectsOf(file, folder))
    })
    assert.isAbove(all.length, 1000)
    assert.deepStrictEqual(Object.fromEntries(all.filter(([, members]) => members > MAX_MEMBERS)), LARGER)
  })
})
