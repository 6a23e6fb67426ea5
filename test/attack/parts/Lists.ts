/**
 * Lists that are long, or withheld from their reader, and clients that give their requests up.
 *
 * @module
 */
import { request } from "node:http"
import type { Part } from "../Part.ts"
import * as Bursts from "./Bursts.ts"
import { hold, request as ask, type Target, tokens } from "../Targets.ts"

const space = "/v1/spaces/archive"

/** The signals that fill the space, and the cells and delayed signals of each. */
const FILLS = 12
const EACH = 800

/** The longest time after which a client gives its request up, in milliseconds. */
const PATIENCE = 8

/** The most time that a list with one client may take, in milliseconds. It allows for a shared machine. */
const LONG = 20_000

/** The interval of attempts that read a list to its end. */
const READ = 10

/** The most rows that a page may look at. */
const BAR = 500

/** The delay of the signals that wait, in milliseconds: longer than any attack. */
const LATER = 30 * 86_400_000

/** The links between most cells of a chain and its end. */
const HOPS = 20

const fill = `import { Enzyme } from "systole"
export default [
  Enzyme.make({
    name: "fill",
    query: "/signals/fill/:folder/:n",
    run: (tx, event) => {
      const { folder, n } = event.params
      for (let i = 0; i < ${EACH}; i++) {
        const target = "/data/" + folder + "/" + n + "/" + i
        tx.set(target, "x".repeat(100))
        tx.signal({ signal: "/signals/later", target, at: { ms: ${LATER} } })
      }
    }
  }),
  Enzyme.make({
    name: "chain",
    query: "/signals/chain",
    run: (tx) => {
      const end = "/data/chains/" + "0".repeat(3)
      tx.set(end, 1)
      for (let i = 1; i < ${EACH}; i++) {
        const before = i % ${HOPS} === 1 ? 0 : i - 1
        tx.set("/data/chains/" + String(i).padStart(3, "0"), { $link: "/data/chains/" + String(before).padStart(3, "0") })
      }
    }
  })
]
`

const json = { "content-type": "application/json" }

const begin = async ({ ask }: Target): Promise<void> => {
  const fills = Array.from({ length: FILLS }, (_, n) => `/signals/fill/${n % 2 === 0 ? "pay" : "long"}/${n}`)
  for (const signal of [...fills, "/signals/chain"]) {
    const body = JSON.stringify({ signal })
    const { status, text } = await ask(`${space}/signals`, { method: "POST", headers: { ...json, prefer: "wait=60" }, body })
    hold(status === 200 && text.includes("\"handled\""), `a signal that fills the space is answered ${status} ${text.slice(0, 300)}`)
  }
}

/** The lists of a reader without clearance, and those of the operator. */
const readers = ["/cells/data/pay?below", "/cells/data?below", "/cells/data?below&values", "/waiting", "/waiting?limit=1000"]
const whole = ["/cells/data?below&values&limit=1000", "/waiting?limit=1000", "/beats?limit=1000"]
const operators = [...whole, "/cells/data/pay?list", "/dead", "/io", "/runs"]

/** Sends a request, and closes its connection before the answer is there. */
const giveUp = ({ server: { url } }: Target, path: string, { token, millis }: { readonly token: string; readonly millis: number }) =>
  new Promise<void>((resolve) => {
    const asked = request(`${url}${path}`, { agent: false, headers: { authorization: `Bearer ${token}` } }, (response) => response.resume())
    asked.on("error", () => {}).on("close", resolve).end()
    setTimeout(() => asked.destroy(), millis)
  })

const readToEnd = async ({ ask }: Target, path: string): Promise<void> => {
  const began = performance.now()
  const { status, text } = await ask(`${space}${path}`)
  hold(status === 200, `${path} is answered ${status} ${text.slice(0, 200)}`)
  const took = Math.round(performance.now() - began)
  hold(took < LONG, `${path} takes ${took} ms`)
}

/** The longest array anywhere in a body. */
const longest = (body: unknown): number => {
  if (typeof body !== "object" || body === null) return 0
  return Math.max(Array.isArray(body) ? body.length : 0, ...Object.values(body).map(longest))
}

/** A list, the token of its reader, and the fewest rows at which it looks. */
type Long = readonly [path: string, token: string, looks: number]

/** Reads all pages of a list. Each looks at a bounded number of rows, so there have to be as many. */
const readPages = async ({ server: { url } }: Target, [path, token, looks]: Long): Promise<void> => {
  let pages = 0
  for (let after: string | null = ""; after !== null; pages++) {
    const from: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`
    const { status, text } = await ask(url, `${space}${path}${from}`, { headers: { authorization: `Bearer ${token}` } })
    hold(status === 200, `${path}${from} is answered ${status} ${text.slice(0, 200)}`)
    const body = JSON.parse(text) as { readonly next: string | number | null }
    hold(longest(body) <= BAR, `a page of ${path} has ${longest(body)} rows, and may look at ${BAR}`)
    after = body.next === null ? null : String(body.next)
  }
  hold(pages >= Math.floor(looks / BAR), `${path} has ${pages} pages, so some of them look at more than ${BAR} rows`)
}

const long: ReadonlyArray<Long> = [
  ["/cells/data/pay?below&limit=1000", tokens.web, FILLS / 2 * EACH],
  ["/waiting?limit=1000", tokens.web, FILLS * EACH],
  ["/cells/data?below&limit=1000", tokens.operator, FILLS * EACH],
  ["/waiting?limit=1000", tokens.operator, FILLS * EACH],
  // Half of the links of a chain lie before a cell, on average.
  ["/cells/data/chains?below&values&limit=1000", tokens.operator, EACH * HOPS / 2]
]

const { operator, web } = tokens

/** The lists of a space, by their paths: how they are asked for, and by whom. */
const listed: Readonly<Record<string, ReadonlyArray<Bursts.List>>> = {
  "/waiting": [["?limit=1000", operator], ["?limit=1000", web]],
  "/dead": [["", operator]],
  "/cells/*": [
    ["/data?below", operator], ["/data?below&values", operator], ["/data/pay?list", operator],
    ["/data/pay?below", web], ["/data/long?list", web]
  ],
  "/beats": [["?limit=100", operator]],
  "/ops": [["", operator]],
  "/rv": [["", operator]],
  "/flows": [["", operator]],
  "/io": [["", operator], ["?open", operator]],
  "/io/drains": [["", operator]],
  "/runs": [["", operator], ["?all", operator]],
  "/graph": [["", operator]],
  "/schema": [["", operator]],
  "/graph/trace": [["", operator]]
}

/** All lists of which a page takes a turn. */
export const turned: Readonly<Record<string, ReadonlyArray<Bursts.List>>> = {
  "/v1/enzymes": [["", operator]],
  "/v1/flows": [["", operator]],
  "/v1/spaces": [["", operator]],
  ...Object.fromEntries(Object.entries(listed).map(([path, lists]) => [`/v1/spaces/:space${path}`, lists]))
}

const bursts = Object.entries(turned).flatMap(([path, lists]) =>
  lists.map(([query, token]): Bursts.List => [path.replace(":space", "archive").replace("/*", "") + query, token]))

export const lists: Part = {
  name: "lists",
  holds: "lists that are long or withheld give way to other spaces, and end with their clients",
  everyMs: 10,
  prepare: async ({ draw }) => ({
    ground: { enzymes: { fill } },
    begin,
    attempt: async (target, n) => {
      const [paths, token] = n % 2 === 0 ? [readers, tokens.web] : [operators, tokens.operator]
      const path = paths[draw(paths.length)] ?? ""
      if (n % READ === 1) await readToEnd(target, path)
      else await giveUp(target, `${space}${path}`, { token, millis: draw(PATIENCE) })
    },
    check: async (target) => {
      for (const list of long) await readPages(target, list)
      await Bursts.overtaken(target, bursts)
    }
  })
}
