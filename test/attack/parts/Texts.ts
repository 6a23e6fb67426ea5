/**
 * Texts on which careless expressions take quadratic or exponential time: control files, names, queries and header fields.
 *
 * @module
 */
import { block, hostile, many } from "../../agent/HostileFiles.ts"
import * as Random from "../../support/Random.ts"
import type { Part } from "../Part.ts"
import { hold, scheduled, type Sent, type Target } from "../Targets.ts"

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
type Hostile = readonly [place: string, path: string, sent: Sent]

const withField = (field: string, value: string): Hostile =>
  [field, `${space}/cells/data/x`, { headers: { [field]: `${field === "authorization" ? "Bearer " : ""}${value}x` } }]

const withQuery = (query: string, value: string): Hostile =>
  [query, `${space}/cells/data?${query}=${encodeURIComponent(value.slice(0, 3000))}!`, {}]

const withSignal = (name: string, payload: string): Hostile => {
  const signal = `/signals${name.repeat(300)}`
  return ["signal", `${space}/signals`, { method: "POST", headers: json, body: JSON.stringify({ signal, target: signal, payload }) }]
}

const withPath = (name: string): Hostile => ["path", `${space}/cells/data${name.repeat(1000)}`, {}]

/** A request for each value in each place. */
const requests: ReadonlyArray<Hostile> = [
  ...values.flatMap((value) => [...fields.map((field) => withField(field, value)), ...queries.map((query) => withQuery(query, value))]),
  ...names.flatMap((name) => [withSignal(name, "x"), withPath(name)])
]

const request = (draw: Random.Random): Hostile => {
  const pick = (list: ReadonlyArray<string>): string => Random.pick(draw, list)
  switch (draw(4)) {
    case 0:
      return withField(pick(fields), pick(values))
    case 1:
      return withQuery(pick(queries), pick(values))
    case 2:
      return withSignal(pick(names), pick(values))
    default:
      return withPath(pick(names))
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

/** The looks at the cost of a text. The least counts: others collect garbage, or compile code. */
const LOOKS = 3

/** The most that a hostile text may cost, in those of an ordinary one of its size. */
const TIMES = 8

/** A cost that shows nothing, in milliseconds of the processor. */
const SLIGHT = 60

/**
 * The cost of some work of a server in milliseconds of its processor, which other work of the machine does not prolong. `enough` is a
 * cost that needs no further look.
 */
const cost = async ({ server: { process: { pid } } }: Target, work: () => Promise<unknown>, enough: number): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < LOOKS && least > enough; i++) {
    const before = scheduled(pid).ran
    await work()
    least = Math.min(least, scheduled(pid).ran - before)
  }
  return least
}

/** An ordinary file of the usual size. */
const ordinary = many((i) => block(`a${i}`, "- **schedule**: daily:06:00\n"))

/** Holds that a text of the greatest size costs about as much as an ordinary one. */
const holdLinear = async (target: Target): Promise<void> => {
  const most = SLIGHT + TIMES * await cost(target, () => save(target, ["an ordinary file", ordinary]), 0)
  for (const [name, text] of Object.entries(hostile())) {
    const spent = await cost(target, () => save(target, [name, text]), most)
    hold(spent <= most, `a save of ${name} costs ${Math.round(spent)} ms of the processor, and may cost ${Math.round(most)}`)
  }
  for (const [place, path, sent] of requests) {
    const spent = await cost(target, () => target.ask(path, sent), SLIGHT)
    hold(spent <= SLIGHT, `a request with a hostile ${place} costs ${Math.round(spent)} ms of the processor, and may cost ${SLIGHT}`)
  }
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
      const [, path, sent] = request(draw)
      const { status, text } = await target.ask(path, sent)
      hold(status < 500, `${sent.method ?? "GET"} ${path.slice(0, 100)} is answered ${status} ${text.slice(0, 200)}`)
    },
    check: holdLinear
  })
}
