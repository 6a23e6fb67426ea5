/**
 * A story whose stores an earlier release wrote: durable runs of a module in a file are under way at its end.
 *
 * The code of that release made them: in a work tree of commit 02d6fcbe, with this file beside its stories, `Recording.record` ran
 * for each story. The stores never change.
 *
 * @module
 */
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beats, make, modules, type Story, together } from "./Story.ts"

/** The module, unchanged since. */
const source = `import { Enzyme } from "systole"
const count = (tx, name) => tx.increment("/data/count/" + name)
export default [
  Enzyme.make({
    name: "waits",
    query: "/signals/waits",
    durable: true,
    hears: [{ signal: "/signals/wake", target: "/data/wake" }],
    run: async (tx) => {
      count(tx, "begun")
      await tx.sleep({ beats: 2 })
      const { payload } = await tx.waitForSignal("/signals/wake", "/data/wake")
      count(tx, "heard")
      await tx.sleep({ beats: 2 })
      count(tx, "ended")
      return ["woken by", payload]
    }
  }),
  Enzyme.make({
    name: "asks",
    query: "/signals/asks",
    durable: true,
    run: async (tx, { payload }) => {
      count(tx, "asked")
      const value = await tx.io.request({ channel: "bank", opcode: "charge", payload })
      count(tx, "charged")
      return ["charged", value]
    }
  }),
  Enzyme.make({ name: "keep", query: "/signals/keep", run: (tx, { payload }) => tx.set("/data/kept", payload) })
]
`

/** Writes the module of the story into a project. */
export const write = (root: string): void => {
  mkdirSync(modules(root), { recursive: true })
  writeFileSync(join(modules(root), "m.ts"), source)
}

/** A text of more than 1 MiB of UTF-8, which is stored in parts. */
export const long = "é".repeat(600_000)

const channels = { bank: { opcodes: { charge: { repeatable: true } } } }

const story = (name: string, kept: string): Story => make({
  name,
  channels,
  act: Effect.fnUntraced(function*({ kernel, load, root }) {
    write(root)
    yield* load
    const space = yield* kernel.space("home")
    yield* together(space, [space.signal({ signal: "/signals/keep", payload: kept })])
    yield* together(space, [space.signal({ signal: "/signals/waits" }), space.signal({ signal: "/signals/asks", payload: 5 })])
    yield* beats(space, 5)
  })
})

/** The stories by the format of their stores, with the text that each keeps. */
export const byFormat: ReadonlyArray<readonly [format: number, story: Story, kept: string]> = [
  [10, story("runs in flight, format 10", "short"), "short"],
  [11, story("runs in flight, format 11", long), long]
]
