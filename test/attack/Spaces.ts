/**
 * Modules that never load, more spaces than the limit of open ones, and damaged files.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { readFile, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Attack } from "./Attack.ts"
import { type Answer, codeOf, descriptors, hold, type Target } from "./Targets.ts"

const json = { "content-type": "application/json" }

/** The limit on the load of a module, in milliseconds. */
const LOAD_MILLIS = 300

const SPACES = 300

/** The minimum number of spaces, whatever the time; most of them must close. */
const LEAST = 80

/** The maximum number of open spaces. */
const OPEN = 20

/** The maximum number of descriptors of an open space: its database, the log and the index of the log. */
const DESCRIPTORS = 3

/** The number of concurrent requests. */
const AT_ONCE = 20

const config = `spaces: { create: "on-demand", open: ${OPEN} }, limits: { moduleMillis: ${LOAD_MILLIS} }`

const count = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "count",
  query: "/signals/count",
  run: (tx) => {
    tx.increment("/data/count")
    return tx.get("/data/count")
  }
})
`

const post = ({ ask }: Target, space: string): Promise<Answer> =>
  ask(`/v1/spaces/${space}/signals`, {
    method: "POST",
    headers: { ...json, prefer: "wait=10" },
    body: JSON.stringify({ signal: "/signals/count" })
  })

const neverLoads: Attack = {
  name: "17 a module whose top level never settles",
  holds: "the server listens and names it, and the others run",
  run: async ({ start }) => {
    const target = await start({ name: "never", config, enzymes: { count, never: "await new Promise(() => {})\nexport default 1\n" } })
    try {
      const told = target.printed()
      hold(told.includes("enzymes/never.ts") && told.includes(`did not settle within ${LOAD_MILLIS} ms`), `it prints ${told.slice(0, 300)}`)
      const { status, text } = await post(target, "shop")
      const isHandled = status === 200 && (JSON.parse(text) as { readonly status: string }).status === "handled"
      hold(isHandled, `the other enzyme is answered ${status} ${text.slice(0, 200)}`)
      return 2
    } finally {
      await target.server.end("SIGKILL")
    }
  }
}

const many: Attack = {
  name: "19 many spaces",
  holds: `${SPACES} spaces, at most ${OPEN} of them open, keep to the descriptors of the open ones, and lose no count`,
  run: async ({ start }, until) => {
    const target = await start({ name: "many", config, enzymes: { count } })
    const counts = new Map<string, number>()
    const round = async (spaces: ReadonlyArray<string>): Promise<void> => {
      const answers = await Promise.all(spaces.map((space) => post(target, space)))
      answers.forEach(({ status, text }, n) => {
        const expected = (counts.get(spaces[n]!) ?? 0) + 1
        counts.set(spaces[n]!, expected)
        hold(status === 200, `${spaces[n]} is answered ${status} ${text.slice(0, 200)}`)
        const { handlings } = JSON.parse(text) as { readonly handlings: ReadonlyArray<{ readonly value: unknown }> }
        hold(handlings[0]?.value === expected, `${spaces[n]} counts ${text.slice(0, 300)}, and not ${expected}`)
      })
    }
    try {
      const before = descriptors(target.server.process.pid)
      while (counts.size < SPACES && (counts.size < LEAST || !until())) {
        await round(Array.from({ length: AT_ONCE }, (_, n) => `s${counts.size + n}`))
      }
      // The first spaces are closed by now, and reopen.
      await round([...counts.keys()].slice(0, AT_ONCE))
      const more = descriptors(target.server.process.pid) - before
      // Each concurrent request keeps its space open until its response.
      const most = (OPEN + AT_ONCE) * DESCRIPTORS
      hold(more <= most, `they take ${more} descriptors, and ${most} are expected`)
      await target.check()
      return counts.size + AT_ONCE
    } finally {
      await target.server.end("SIGKILL")
    }
  }
}

const MARK = "a text that stands in the file as it is"

/** The offsets of the text: in the cell, in the journal, and in freed parts of pages. */
const placesOf = (bytes: Buffer): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1)) places.push(at)
  return places
}

/** The damages to a file between two starts. */
const damages: Readonly<Record<string, (file: string) => Promise<void>>> = {
  flipped: async (file) => {
    const bytes = await readFile(file)
    const places = placesOf(bytes)
    hold(places.length > 0, "the text does not stand in the file")
    for (const at of places) bytes[at] = bytes[at]! ^ 1
    await writeFile(file, bytes)
  },
  emptied: (file) => truncate(file, 0),
  vanished: (file) => rm(file)
}

const damaged: Attack = {
  name: "16 damaged files",
  holds: "flipped bits, a file of 0 bytes and one that vanished are store/damaged, never served or made anew; other spaces go on",
  run: async ({ start }) => {
    const setup = { name: "damaged", config, enzymes: { count } }
    const names = [...Object.keys(damages), "whole"]
    const cell = (space: string): string => `/v1/spaces/${space}/cells/data/text`
    const first = await start(setup)
    try {
      for (const space of names) {
        const { status } = await first.ask(cell(space), { method: "PUT", headers: json, body: JSON.stringify(MARK) })
        hold(status === 200, `a write to ${space} is answered ${status}`)
      }
    } finally {
      await first.server.end("SIGTERM")
    }
    const file = (space: string): string => join(first.data, `${space}.sqlite`)
    for (const [space, damage] of Object.entries(damages)) {
      for (const aside of ["-wal", "-shm"]) hold(!existsSync(file(space) + aside), `${space}.sqlite${aside} is left by a clean end`)
      await damage(file(space))
    }
    const second = await start(setup)
    try {
      for (const space of Object.keys(damages)) await refused(second, space, cell(space))
      const whole = await second.ask(cell("whole"))
      const isServed = whole.status === 200 && whole.text === JSON.stringify(MARK)
      hold(isServed, `the whole one is answered ${whole.status} ${whole.text.slice(0, 100)}`)
      const ready = await second.ask("/readyz")
      hold(ready.status === 503 && ready.text.includes("store/damaged"), `/readyz is answered ${ready.status} ${ready.text.slice(0, 200)}`)
      hold(!existsSync(file("vanished")), "the file that vanished is made anew")
      return names.length * 3
    } finally {
      await second.server.end("SIGKILL")
    }
  }
}

/** Asserts that reads and writes are refused without the path of the file. A beat that finds damage stops its space. */
const refused = async (target: Target, space: string, cell: string): Promise<void> => {
  for (const sent of [{}, { method: "PUT", headers: json, body: "1" }, {}]) {
    const answer = await target.ask(cell, sent)
    const code = codeOf(answer)
    const isDamage = code === "store/damaged" || (code === "space/stopped" && "body" in sent)
    hold(answer.status === 503 && isDamage, `${space} is answered ${answer.status} ${answer.text.slice(0, 200)}`)
    hold(!answer.text.includes(target.data), `${space} tells where its file is: ${answer.text.slice(0, 200)}`)
  }
}

export const spaces: ReadonlyArray<Attack> = [neverLoads, many, damaged]
