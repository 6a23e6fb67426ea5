/**
 * Watched folders with very many files.
 *
 * @module
 */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Part } from "../Part.ts"
import { hold } from "../Targets.ts"

/** The folders, and the files of each. */
const FOLDERS = 100
const FILES = 60

/** The longest time of a request, in milliseconds. */
const TIMEOUT = 300

/** Looks at the whole tree, by a channel that may see all of it and by one with its usual limit of entries. */
const watcher = `import { Enzyme } from "systole"
const payloads = { watch: { path: "" }, glob: { pattern: "**/*9.txt" }, list: { path: "" } }
export default Enzyme.make({
  name: "watcher",
  query: "/signals/look/:channel/:opcode",
  run: (tx, { params: { channel, opcode }, payload: { code, state }, signal }) => {
    if (state !== undefined) return void tx.increment("/data/ends/" + opcode + "/" + (code ?? state).replace("/", "-"))
    tx.io.request({ channel, opcode, payload: payloads[opcode], attempts: 1, timeoutMs: ${TIMEOUT}, signal })
  }
})
`

const opcodes = ["watch", "watch", "glob", "watch", "list"]

const fill = async (root: string): Promise<void> => {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, `folder${folder}`)
    await mkdir(path, { recursive: true })
    await Promise.all(Array.from({ length: FILES }, (_, n) => writeFile(join(path, `${n}.txt`), "")))
  }
}

export const folders: Part = {
  name: "folders",
  holds: "a watch, a list and a glob of very many files give way to other spaces",
  everyMs: 100,
  prepare: async ({ folder }) => {
    const root = join(folder, "root")
    await fill(root)
    return {
      ground: {
        channels: {
          tree: { use: "file", options: { root, maxEntries: 100_000 } },
          narrow: { use: "file", options: { root, maxEntries: 1000 } }
        },
        enzymes: { watcher }
      },
      attempt: async ({ ask }, n) => {
        const channel = n % 3 === 2 ? "narrow" : "tree"
        const body = JSON.stringify({ signal: `/signals/look/${channel}/${opcodes[n % opcodes.length]}`, payload: {} })
        const headers = { "content-type": "application/json" }
        const { status } = await ask("/v1/spaces/observer/signals", { method: "POST", headers, body })
        hold(status === 202, `a signal is answered ${status}`)
      },
      check: async ({ ask }) => {
        const { text } = await ask("/v1/spaces/observer/dead")
        hold(!text.includes("run/stuck"), `an innocent run is blamed: ${text.slice(0, 300)}`)
      }
    }
  }
}
