import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Disk } from "../../src/cli/Disk.ts"
import * as StoredFile from "../../plugins/agent/store/StoredFile.ts"
import * as HashLayer from "../support/HashLayer.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { action, fileOf, PATH, withAgent } from "./TestAgent.ts"

const shell = (id: string, fields: Readonly<Record<string, string>> = {}): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields })

/** A channel that calls a function while a program runs, and keeps the command lines. */
const programs = () => {
  const started: Array<string> = []
  const world = { started, during: (_: string): void => {}, scripts: {} }
  world.scripts = {
    shell: (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      started.push(argv.join(" "))
      world.during(argv[1] ?? "")
      return { code: 0, stdout: "", stderr: "" }
    }
  }
  return world
}

describe("Saves of a person during a wake", () => {
  it.effect("are followed before another action begins", () => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b"), shell("c")), ({ disk, fields, text, wake }) => Effect.gen(function*() {
      world.during = (id) => {
        if (id !== "a") return
        disk.save(PATH, text().replace("echo b", "echo changed").replace(shell("c"), shell("d")))
      }
      yield* wake()
      assert.deepStrictEqual(world.started, ["echo a", "echo changed", "echo d"])
      assert.deepStrictEqual(["a", "b", "d"].map((id) => fields(id)["status"]), ["completed", "completed", "completed"])
    }), { scripts: world.scripts })
  })

  it.effect("are followed after the last action that was due", () => {
    const world = programs()
    return withAgent(fileOf(shell("a")), ({ disk, text, wake }) => Effect.gen(function*() {
      world.during = (id) => {
        if (id === "a") disk.save(PATH, text().replace("## Notes", `${shell("b")}\n## Notes`))
      }
      yield* wake()
      assert.deepStrictEqual(world.started, ["echo a", "echo b"])
    }), { scripts: world.scripts })
  })

  it.effect("are followed by an action that is about to begin", () => {
    const world = programs()
    return withAgent(fileOf(shell("a")), ({ disk, text, wake }) => Effect.gen(function*() {
      disk.before = (operation, path) => {
        if (operation !== "create" || !path.endsWith(".tmp")) return
        disk.before = () => {}
        disk.replace(PATH, text().replace("echo a", "echo changed"))
      }
      yield* wake()
      assert.deepStrictEqual(world.started, ["echo changed"])
    }), { scripts: world.scripts })
  })

  it.effect("end a wake that they never leave alone, and no program runs", () => {
    const world = programs()
    let saves = 0
    return withAgent(fileOf(shell("a")), ({ disk, text, wake }) => Effect.gen(function*() {
      disk.before = (operation, path) => {
        if (operation === "create" && path.endsWith(".tmp")) disk.replace(PATH, `${text()}${++saves}\n`)
      }
      yield* wake()
      assert.deepStrictEqual(world.started, [])
      assert.include(text(), `\n${saves}\n`)
    }), { scripts: world.scripts })
  })

  it.effect("a file that was removed stays removed, and nothing else begins", () => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b")), ({ disk, wake }) => Effect.gen(function*() {
      world.during = () => void disk.names.delete(PATH)
      assert.isFalse((yield* wake()).isWritten)
      assert.deepStrictEqual(world.started, ["echo a"])
      assert.isUndefined(disk.text(PATH))
      assert.strictEqual((yield* Effect.flip(wake())).code, "agent/file-absent")
      assert.isUndefined(disk.text(PATH))
    }), { scripts: world.scripts })
  })

  it.effect("a file that is removed or renamed at any call of a write stays away, and its text is kept", () =>
    Effect.gen(function*() {
      for (const kind of ["remove", "rename"] as const) {
        for (let at = 1, isOver = false; !isOver; at++) isOver = yield* taken(kind, at)
      }
    }))
})

/** Removes or renames the file before one call of a write. True if the write has fewer calls. */
const taken = (kind: "remove" | "rename", at: number) => {
  const disk = new MemoryDisk()
  disk.save(PATH, "old")
  let calls = 0
  let text: string | undefined
  disk.before = () => {
    const found = ++calls >= at && text === undefined ? disk.names.get(PATH) : undefined
    if (found === undefined) return
    text = disk.text(PATH)
    disk.names.delete(PATH)
    if (kind === "rename") disk.names.set("/home/ann/mine.md", found)
  }
  return Effect.gen(function*() {
    const place = yield* StoredFile.place(PATH)
    const encoder = new TextEncoder()
    yield* StoredFile.replace(place, encoder.encode("old"), encoder.encode("new"))
    yield* StoredFile.tend(place)
    if (text === undefined) return true
    assert.isUndefined(disk.text(PATH), `${kind} before call ${at}`)
    if (kind === "rename") assert.strictEqual(disk.text("/home/ann/mine.md"), text)
    return calls < at
  }).pipe(Effect.provide(Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer)))
}
