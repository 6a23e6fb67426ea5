import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Damage from "../../plugins/agent/document/Damage.ts"
import { action, type Agent, fileOf, PATH, START, withAgent } from "./TestAgent.ts"

const shell = (id: string, fields: Readonly<Record<string, string>> = {}): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields })

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const utf16 = (text: string): Uint8Array => Uint8Array.from([...text].flatMap((char) => [char.charCodeAt(0), 0]))

/** Puts bytes into the file, as an editor does. */
const put = ({ disk }: Agent, bytes: Uint8Array): void => {
  const file = disk.open(PATH)
  file.bytes = bytes
  file.version++
}

const programs = () => {
  const started: Array<string> = []
  const world = { started, during: (_: string): void => {}, scripts: {} }
  world.scripts = {
    shell: (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      started.push(argv[1] ?? "")
      world.during(argv[1] ?? "")
      return { code: 0, stdout: "", stderr: "" }
    }
  }
  return world
}

const encodings: ReadonlyArray<readonly [string, (text: string) => Uint8Array, string]> = [
  ["UTF-16 with a mark", (text) => Uint8Array.from([0xff, 0xfe, ...utf16(text)]), "UTF-16"],
  ["UTF-16 without one", utf16, "UTF-16"],
  ["UTF-16 of the other order", (text) => Uint8Array.from([0, ...utf16(text)].slice(0, -1)), "UTF-16"],
  ["UTF-32", (text) => Uint8Array.from([0xff, 0xfe, 0, 0, ...utf16(text)]), "UTF-32"],
  ["Latin-1", (text) => Uint8Array.from([...text.replace("Mine", "Mine \u00fc")].map((char) => char.charCodeAt(0))), "Latin-1"]
]

describe("A control file", () => {
  it.effect.each(encodings)("in %s is refused by name, stays as it is, and runs nothing", ([, encoded, name]) => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b")), (agent) => Effect.gen(function*() {
      const { disk, wake } = agent
      yield* wake()
      const saved = encoded(fileOf(shell("c")))
      put(agent, saved)
      const failed = yield* Effect.flip(wake())
      assert.deepInclude(failed, { code: "agent/file-encoding" })
      assert.include(failed.message, name)
      assert.deepStrictEqual(disk.names.get(PATH)?.bytes, saved)
      assert.deepStrictEqual([world.started, disk.list("/home/ann").filter((each) => each.includes("damaged"))], [["a", "b"], []])
    }), { scripts: world.scripts })
  })

  it.effect.each(["", " \n\t\r\n", "\ufeff"])("that a person emptied has no actions, and stays as it is: %j", (text) => {
    const world = programs()
    return withAgent(fileOf(shell("a", { schedule: "every:1m" })), (agent) => Effect.gen(function*() {
      const { disk, wake } = agent
      yield* wake()
      put(agent, encode(text))
      yield* TestClock.adjust("2 minutes")
      const { copies, issues, plan, ran } = yield* wake()
      assert.deepStrictEqual([copies, plan, ran], [[], [], []])
      assert.deepStrictEqual(issues.map(({ code }) => code), ["agent/section-missing"])
      assert.deepStrictEqual([world.started, disk.names.get(PATH)?.bytes], [["a"], encode(text)])
    }), { scripts: world.scripts })
  })

  it.effect("that a person empties while an action runs stays empty, and the record has the end", () => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b")), (agent) => Effect.gen(function*() {
      world.during = () => put(agent, encode(""))
      const { ran } = yield* agent.wake()
      assert.deepStrictEqual([ran.map(({ record }) => record.status), world.started, agent.text()], [["completed"], ["a"], ""])
      yield* agent.wake()
      assert.strictEqual(agent.text(), "")
    }), { scripts: world.scripts })
  })

  it.effect("that is empty for a moment of a save keeps its actions", () => {
    const world = programs()
    return withAgent(fileOf(shell("a")), (agent) => Effect.gen(function*() {
      const before = agent.text()
      put(agent, encode(""))
      let reads = 0
      agent.disk.before = (operation, path) => {
        if (operation === "read" && path === PATH && ++reads === 2) put(agent, encode(before))
      }
      yield* agent.wake()
      assert.deepStrictEqual(world.started, ["a"])
    }), { scripts: world.scripts })
  })

  const cuts: ReadonlyArray<string> = ["\0\0\0", "---\nversion: 1\n\0\0", "---\nversion: 1\nsta", "---", "--", "---\n"]
  it.effect.each(cuts)("that is damaged has the newest valid version that the agent saw: %j", (cut) => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b", { schedule: "at:2024-01-15T11:00:00Z" })), (agent) => Effect.gen(function*() {
      const { disk, text, wake } = agent
      yield* wake()
      disk.replace(PATH, text().replace(shell("b", { schedule: "at:2024-01-15T11:00:00Z" }), "").replace("Mine.", "Mine, without b."))
      yield* wake()
      const seen = text()
      put(agent, encode(cut))
      yield* TestClock.setTime(START + 3_600_000)
      const { copies } = yield* wake()
      assert.deepStrictEqual([world.started, text()], [["a"], seen])
      assert.strictEqual(disk.text(`/home/ann/${copies[0] ?? ""}`), cut)
    }), { scripts: world.scripts })
  })

  it.effect("that a person saves between the look at damage and the restore stays as it was saved", () =>
    Effect.gen(function*() {
      for (let place = 1, isOver = false; !isOver; place++) {
        const world = programs()
        yield* withAgent(fileOf(shell("a")), (agent) => Effect.gen(function*() {
          const { disk, wake } = agent
          yield* wake()
          const mine = fileOf(shell("mine"))
          let [calls, isDamaged] = [0, true]
          put(agent, encode("\0"))
          disk.before = () => {
            if (++calls !== place) return
            isDamaged = disk.text(PATH) !== undefined && disk.text(PATH) === "\0"
            disk.replace(PATH, mine)
          }
          yield* wake()
          disk.before = () => {}
          isOver = calls < place
          yield* wake()
          const kept = disk.list("/home/ann").filter((name) => !name.startsWith(".")).map((name) => disk.text(`/home/ann/${name}`))
          assert.isTrue(isOver || kept.some((text) => text?.includes("mine")), `call ${place}`)
          if (isDamaged && !isOver) assert.deepStrictEqual(world.started, ["a", "mine"], `call ${place}`)
        }), { scripts: world.scripts })
      }
    }))

  it("tells damage from encodings and from emptied files", () => {
    const kinds = [fileOf(), "", "x", "---\n...\n", "# no frontmatter\n", "\0", "---\r\nx"].map((text) => Damage.of(encode(text))?.kind)
    assert.deepStrictEqual(kinds, [undefined, "blank", undefined, undefined, undefined, "damaged", "damaged"])
  })
})
