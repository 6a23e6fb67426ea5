/**
 * Lists that are long, or withheld from their reader, and clients that give their requests up.
 *
 * @module
 */
import { request } from "node:http"
import type { Part } from "../Part.ts"
import { hold, type Target, tokens } from "../Targets.ts"

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

const fill = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "fill",
  query: "/signals/fill/:folder/:n",
  run: (tx, event) => {
    const { folder, n } = event.params
    for (let i = 0; i < ${EACH}; i++) {
      const target = "/data/" + folder + "/" + n + "/" + i
      tx.set(target, "x".repeat(100))
      tx.signal({ signal: "/signals/later", target, at: { ms: 3_600_000 } })
    }
  }
})
`

const json = { "content-type": "application/json" }

const begin = async ({ ask }: Target): Promise<void> => {
  for (let n = 0; n < FILLS; n++) {
    const body = JSON.stringify({ signal: `/signals/fill/${n % 2 === 0 ? "pay" : "long"}/${n}` })
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
    }
  })
}
