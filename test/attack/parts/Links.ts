/**
 * A program that exchanges folders for links below the root of a channel, while requests read and write there.
 *
 * @module
 */
import { fork } from "node:child_process"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { environment, node, root as project } from "../../scripts/Host.ts"
import type { Part } from "../Part.ts"
import { hold, type Target } from "../Targets.ts"

/** The text outside. Its length shows where its words do not. */
const SECRET = "outside".padEnd(4321, ".")

const space = "/v1/spaces/jail"

/** The requests of one signal. */
const EACH = 12

/** Requests at a place that is a folder, a link or absent. Their results come back as signals, which keep what they read. */
const prisoner = `import { Enzyme } from "systole"
const requests = [
  ["read", { path: "door/secret" }],
  ["read", { path: "door/secret" }],
  ["write", { path: "door/new", text: "x" }],
  ["append", { path: "door/secret", text: "x" }],
  ["copy", { from: "door/secret", to: "copy" }],
  ["copy", { from: "own", to: "door/copied" }],
  ["move", { from: "own", to: "door/moved" }],
  ["move", { from: "door/victim", to: "taken" }],
  ["delete", { path: "door/victim" }],
  ["list", { path: "door" }],
  ["glob", { pattern: "door/*" }],
  ["stat", { path: "door/secret" }]
]
export default Enzyme.make({
  name: "prisoner",
  query: "/signals/try/:phase",
  run: (tx, { params: { phase }, payload }) => {
    const signal = "/signals/try/end"
    if (phase === "begin") {
      for (const [opcode, payload] of requests) tx.io.request({ channel: "jail", opcode, payload, attempts: 1, signal })
      return
    }
    const { opcode, state, value } = payload
    tx.increment("/data/done/" + state)
    if (state === "complete" && /outside|"bytes":4321/.test(JSON.stringify(value))) tx.set("/data/leaks/" + opcode, value)
  }
})
`

const files = { secret: SECRET, victim: "", "name-outside": "" }

/** Checks that nothing of the folder outside was read or changed. */
const check = async ({ ask }: Target, outside: string): Promise<void> => {
  const left = (await readdir(outside)).sort()
  hold(left.join() === Object.keys(files).sort().join(), `the folder outside has ${left.join(", ")}`)
  hold(await readFile(join(outside, "secret"), "utf8") === SECRET, "a file outside was written")
  const { text } = await ask(`${space}/cells/data/leaks?below&values`)
  const { cells } = JSON.parse(text) as { readonly cells: ReadonlyArray<string> }
  hold(cells.length === 0, `requests have seen what lies outside: ${text.slice(0, 300)}`)
}

export const links: Part = {
  name: "links",
  holds: `${EACH} opcodes of the channel file stay below its root, whatever becomes a link meanwhile`,
  everyMs: 30,
  prepare: async ({ folder }) => {
    const [root, outside] = [join(folder, "root"), join(folder, "outside")]
    await Promise.all([mkdir(root), mkdir(outside)])
    await writeFile(join(root, "own"), "x")
    for (const [name, text] of Object.entries(files)) await writeFile(join(outside, name), text)
    const flipper = fork(join(import.meta.dirname, "..", "Flipper.ts"), [root, outside], {
      execPath: node(),
      execArgv: ["--import", join(project, "test/scripts/source.mjs")],
      env: environment()
    })
    return {
      ground: { channels: { jail: { use: "file", options: { root } } }, enzymes: { prisoner } },
      attempt: async ({ ask }) => {
        const body = JSON.stringify({ signal: "/signals/try/begin" })
        const { status } = await ask(`${space}/signals`, { method: "POST", headers: { "content-type": "application/json" }, body })
        hold(status === 202 || status === 429, `a signal is answered ${status}`)
      },
      check: (target) => check(target, outside),
      end: async () => {
        const gone = new Promise<void>((resolve) => flipper.once("exit", () => resolve()))
        if (!flipper.connected) return
        flipper.disconnect()
        await gone
      }
    }
  }
}
