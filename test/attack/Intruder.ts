/**
 * Callers that try to read or change cells without permission.
 *
 * @module
 */
import type { Attack } from "./Attack.ts"
import { type Answer, codeOf, hold, tokens, type Targets } from "./Targets.ts"

const json = { "content-type": "application/json" }

/** Sends requests as a reader without clearance. */
const asWeb = ({ guarded }: Targets) => (path: string, headers: Readonly<Record<string, string>> = {}) =>
  guarded.ask(path, { headers: { authorization: `Bearer ${tokens.web}`, ...headers } })

const withheld = (path: string, answer: Answer): void =>
  hold(answer.status === 403 && codeOf(answer) === "label/withheld", `${path} is answered ${answer.status} ${answer.text.slice(0, 100)}`)

export const readers: ReadonlyArray<Attack> = [
  {
    name: "14 the cells of the runtime",
    holds: "a reader sees no module, no rules, no operation, no beat",
    run: async (targets) => {
      const { guarded } = targets
      await guarded.ask("/v1/spaces/shop/signals", {
        method: "POST",
        headers: { ...json, prefer: "wait=5" },
        body: JSON.stringify({ signal: "/signals/hostile/spin" })
      })
      const code = JSON.parse((await guarded.ask("/v1/spaces/shop/cells/sys/code/hostile")).text) as ReadonlyArray<string>
      hold(code.length === 1, "the operator sees no module")
      const paths = [
        "/cells/sys/code/hostile", `/cells${code[0]}`, `/blobs/${code[0]!.slice(5)}`, "/cells/sys/labels", "/cells/rt/ops/x",
        "/cells/rt/dead/x/y", "/cells/net/x", "/cells/sys/index/rv/x", "/beats", "/ops", "/dead", "/graph", "/denials", "/control",
        "/journal/verification", "/waiting"
      ]
      const ask = asWeb(targets)
      for (const path of paths) {
        const answer = await ask(`/v1/spaces/shop${path}`)
        if (path !== "/waiting") withheld(path, answer)
        hold(!answer.text.includes("salary") && !answer.text.includes("throw-undefined"), `${path} tells: ${answer.text.slice(0, 100)}`)
      }
      for (const folder of ["rt", "sys", "sys/code", "rt/ops"]) {
        const { text } = await ask(`/v1/spaces/shop/cells/${folder}?below`)
        hold((JSON.parse(text) as { readonly cells: ReadonlyArray<string> }).cells.length === 0, `${folder} lists ${text.slice(0, 100)}`)
      }
      return paths.length + 4
    }
  },
  {
    name: "18 a stream of a withheld cell",
    holds: "it is refused by a status after which browsers do not reconnect",
    run: async (targets) => {
      withheld("the stream", await asWeb(targets)("/v1/spaces/shop/cells/data/pay/ann", { accept: "text/event-stream" }))
      return 1
    }
  },
  {
    name: "18 a label that is refused",
    holds: "no atom is revealed, and a known one is refused like an unknown one",
    run: async ({ guarded }) => {
      const told = await Promise.all(["salary", "nobody"].map(async (atom) => {
        const { text } = await guarded.ask("/v1/spaces/shop/signals", {
          method: "POST",
          headers: { ...json, authorization: `Bearer ${tokens.web}` },
          body: JSON.stringify({ signal: "/signals/x", label: [atom] })
        })
        return text.replaceAll(atom, "atom")
      }))
      hold(told[0] === told[1], `they are told ${told.join(" and ")}`)
      const { text } = await guarded.ask("/v1/spaces/shop/signals", {
        method: "POST",
        headers: json,
        body: JSON.stringify({ signal: "/signals/x", label: ["salry"] })
      })
      hold(!text.includes("salary"), `atoms are told: ${text}`)
      return 3
    }
  }
]

const verbs = ["pause", "resume", "shutdown", "restart"]

export const callers: ReadonlyArray<Attack> = [
  {
    name: "18 wrong tokens of workers",
    holds: "they give no access of an operator, and reveal no space and no key",
    run: async ({ guarded, open }) => {
      let tried = 0
      for (const { ask } of [guarded, open]) {
        const told = new Set<string>()
        for (const authorization of ["Rendezvous wrong", "Rendezvous 00ff", "rendezvous", "Rendezvous  zz"]) {
          for (const place of ["shop", "nowhere", "a%20b"]) {
            const report = { method: "POST", headers: { ...json, authorization }, body: "{}" }
            const answer = await ask(`/v1/spaces/${place}/rv/job/report`, report)
            hold(answer.status === 401 || answer.status === 403, `${authorization} at ${place} is answered ${answer.status}`)
            told.add(`${authorization} ${answer.text}`)
            tried++
          }
          const { status } = await ask("/v1/spaces", { headers: { authorization } })
          hold(status === 401, `${authorization} lists spaces: ${status}`)
        }
        hold(told.size === 4, `spaces are told apart: ${[...told].join(" ")}`)
      }
      return tried
    }
  },
  {
    name: "18 pages of other origins",
    holds: "none reads or posts, and a name that resolves here does not help",
    run: async ({ open }) => {
      const { host, port } = new URL(open.server.url)
      const others: ReadonlyArray<Readonly<Record<string, string>>> = [
        { origin: `http://localhost:${Number(port) + 1}` },
        { origin: "http://localhost" },
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
        { host: "evil.example" },
        { host: `evil.example:${port}` },
        { host: "127.0.0.1.evil.example" }
      ]
      for (const headers of others) {
        for (const verb of verbs) {
          const answer = await open.ask(`/v1/spaces/shop/control/${verb}`, { method: "POST", headers: { ...json, ...headers }, body: "{}" })
          const isRefused = answer.status === 403 && codeOf(answer) === "host/refused"
          hold(isRefused, `${verb} with ${JSON.stringify(headers)} is answered ${answer.status}`)
        }
      }
      const own = await open.ask("/v1/spaces", { headers: { origin: `http://${host}`, host } })
      hold(own.status === 200, `a page of the server itself is answered ${own.status}`)
      return others.length * verbs.length + 1
    }
  }
]
