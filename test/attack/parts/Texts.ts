/**
 * Texts on which careless expressions take quadratic or exponential time: control files, names, queries and header fields.
 *
 * @module
 */
import { block, hostile, many } from "../../agent/HostileFiles.ts"
import * as Random from "../../support/Random.ts"
import type { Part } from "../Part.ts"
import { hold, type Sent, type Target } from "../Targets.ts"

const space = "/v1/spaces/office"

/** The longest header field and the longest path that a server takes, in characters. */
const FIELD = 12_000

/** The references of the file that once ended the process. */
const REFERENCES = 20_000

/** The interval of attempts that save a control file; the others are short requests. */
const SAVED = 10

/** The most time of a save in milliseconds, on a shared machine. */
const LONG = 10_000

const json = { "content-type": "application/json" }

/**
 * The size of the other files, in characters. A run holds up others while it parses one, so an ordinary file of this size has to
 * cost no more than a request; an exponential or quadratic time shows in it, too.
 */
const SIZE = 4096

const files = Object.entries(hostile(SIZE))

const references = many(() => block("a")) + block("b", `- **prompt**: ${"${output:".repeat(REFERENCES)}\n`)

const fill = (text: string): string => text.repeat(Math.ceil(FIELD / text.length)).slice(0, FIELD)

/** Values that an expression of each kind is slow at. */
const values = [" ", "\t", ",", "a,", "9", "\"", "W/\"a\",", ";=", "a", "%25"].map(fill)

const conditions = ["range", "if-none-match", "if-match", "last-event-id", "idempotency-key"]
const fields = [...conditions, "prefer", "authorization", "accept", "content-type"]

const queries = ["limit", "after", "before", "from", "path", "scope", "below", "values", "pull"]

const names = ["/a", "/*", "/**", "/:a", "/.", "/-", "/%2e", "/a*b*"]

/** A request with a hostile text in one place. It is refused or answered, and costs its length. */
const request = (draw: Random.Random): readonly [path: string, sent: Sent] => {
  const pick = (list: ReadonlyArray<string>): string => Random.pick(draw, list)
  const field = pick(fields)
  switch (draw(4)) {
    case 0:
      return [`${space}/cells/data/x`, { headers: { [field]: `${field === "authorization" ? "Bearer " : ""}${pick(values)}x` } }]
    case 1:
      return [`${space}/cells/data?${pick(queries)}=${encodeURIComponent(pick(values).slice(0, 3000))}!`, {}]
    case 2: {
      const signal = `/signals${pick(names).repeat(300)}`
      const body = JSON.stringify({ signal, target: signal, payload: pick(values) })
      return [`${space}/signals`, { method: "POST", headers: json, body }]
    }
    default:
      return [`${space}/cells/data${pick(names).repeat(1000)}`, {}]
  }
}

const save = async ({ ask }: Target, [name, text]: readonly [name: string, text: string]): Promise<void> => {
  const began = performance.now()
  const target = "/data/agent/files/heartbeat.md"
  const body = JSON.stringify({ signal: "/signals/heartbeat/save", target, payload: { text } })
  const answer = await ask(`${space}/signals`, { method: "POST", headers: { ...json, prefer: "wait=30" }, body })
  const isHandled = answer.status === 200 && /"status":"(?:handled|dead)"/.test(answer.text)
  hold(isHandled, `a save of ${name} is answered ${answer.status} ${answer.text.slice(0, 300)}`)
  const took = Math.round(performance.now() - began)
  hold(took < LONG, `a save of ${name} takes ${took} ms`)
}

export const texts: Part = {
  name: "texts",
  holds: "texts in control files, names, queries and header fields cost their length",
  everyMs: 25,
  prepare: async ({ draw }) => ({
    ground: {},
    begin: (target) => save(target, [`${REFERENCES} references`, references]),
    attempt: async (target, n) => {
      if (n % SAVED === 0) return save(target, files[n / SAVED % files.length] ?? ["nothing", ""])
      const [path, sent] = request(draw)
      const { status, text } = await target.ask(path, sent)
      hold(status < 500, `${sent.method ?? "GET"} ${path.slice(0, 100)} is answered ${status} ${text.slice(0, 200)}`)
    }
  })
}
