/**
 * Real agents that are killed at random moments, beside a person who saves the control file.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { action, fileOf } from "../agent/TestAgent.ts"
import * as Command from "../scripts/Command.ts"
import { current } from "../scripts/Host.ts"
import { terminal } from "../cli/Terminal.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const config = `import { defineConfig } from "systole"
export default defineConfig({
  agent: { approval: "none" },
  channels: { shell: { use: "shell", options: { allow: [{ program: "/bin/sh", args: "any" }] } } }
})
`

/** A program that counts its starts, by the action that starts it. */
const JOB = "echo ran >> \"ran-$1\"\n"

const order = (id: string): string => action(id, { type: "shell", command: `/bin/sh job.sh ${id}`, timeout: "20s", status: "pending" })

/** The longest life of an agent before it is killed, in milliseconds. */
const LIFE_MILLIS = 3_000

/** A person who adds an action and a note with each save, into the file or by a new one. */
class Person {
  readonly ids = ["n0"]
  private readonly file: string
  private readonly draw: Random.Random

  constructor(root: string, draw: Random.Random) {
    this.file = join(root, "heartbeat.md")
    this.draw = draw
  }

  save(): void {
    if (!existsSync(this.file)) return
    const id = `n${this.ids.length}`
    const text = readFileSync(this.file, "utf8")
    const saved = text.replace("## Notes\n", `${order(id)}\n## Notes\n\nMine: note of ${id}.\n`)
    if (this.draw(2) === 0) writeFileSync(this.file, saved)
    else {
      writeFileSync(`${this.file}~`, saved)
      renameSync(`${this.file}~`, this.file)
    }
    this.ids.push(id)
  }
}

/** Starts an agent, saves beside it, and kills it at a random moment, unless it ends before. */
const killed = (root: string, person: Person, draw: Random.Random): Promise<boolean> =>
  new Promise((resolve) => {
    const [program, ...first] = Command.line(current())
    const child = spawn(program, [...first, "agent", draw(2) === 0 ? "run" : "wake"], {
      cwd: root, stdio: "ignore", env: { ...process.env, NODE_OPTIONS: undefined }
    })
    const life = draw(LIFE_MILLIS)
    const timers = [setTimeout(() => void child.kill("SIGKILL"), life)]
    for (let saves = draw(4); saves > 0; saves--) timers.push(setTimeout(() => person.save(), draw(life + 1)))
    child.once("exit", (_, signal) => {
      for (const timer of timers) clearTimeout(timer)
      resolve(signal === "SIGKILL")
    })
  })

describe("Agents that are killed", () => {
  it.effect("run no order twice, tell none that did not run, and lose no save", () =>
    Effect.gen(function*() {
      const draw = Random.make(7)
      const { root, run } = yield* terminal({ "systole.config.ts": config, "files/job.sh": JOB, "heartbeat.md": fileOf(order("n0")) })
      const person = new Person(root, draw)
      let kills = 0
      for (const most = Trials.count(120, 3); kills < most;) {
        if (yield* Effect.promise(() => killed(root, person, draw))) kills++
      }
      person.save()
      for (let wake = 0; wake < 2; wake++) yield* Effect.promise(() => run("agent", "wake"))
      const text = readFileSync(join(root, "heartbeat.md"), "utf8")
      const texts = readdirSync(root).filter((name) => /^heartbeat\..*md$/.test(name)).map((name) => readFileSync(join(root, name), "utf8"))
      const file = ControlFiles.parse(text)
      assert.isFalse(ControlFiles.isDamaged(file))
      const status = new Map(file.actions.map((each) => [each.id, each.status]))
      const starts = (id: string): number => {
        const log = join(root, "files", `ran-${id}`)
        return existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0
      }
      for (const id of person.ids) {
        assert.isAtMost(starts(id), 1, `${id} ran once, after ${kills} kills`)
        if (status.get(id) === "completed") assert.strictEqual(starts(id), 1, `${id} is told`)
        assert.notInclude(["pending", "running"], status.get(id), `${id} is over`)
        const isKept = texts.some((each) => id === "n0" || each.includes(`Mine: note of ${id}.\n`))
        assert.isTrue(isKept, `the save of ${id} is lost, after ${kills} kills`)
      }
      assert.isAbove(person.ids.filter((id) => status.get(id) === "completed").length, 0)
    }))
})
