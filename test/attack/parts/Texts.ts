/**
 * Texts on which careless expressions take quadratic or exponential time: control files, names, queries and header fields.
 *
 * @module
 */
import { createHash } from "node:crypto"
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
const values = [" ", "\t", ",", "a,", "9", "=", "\\", "\"", "W/\"a\",", ";=", "a", "%25"].map(fill)

/** A content, which answers the fields of conditions and of ranges. */
const content = "x".repeat(1000)
const blob = `${space}/blobs/${createHash("sha256").update(content).digest("hex")}`

const cell = `${space}/cells/data/x`
const post = { method: "POST", headers: json, body: JSON.stringify({ signal: "/signals/none" }) }

/** A request with a hostile text in one place. It is refused or answered, and costs its length. */
type Hostile = readonly [place: string, path: string, sent: Sent]

/** A header field: the beginnings of its values that lead far into a parser, and a request that has it read. */
type Field = readonly [field: string, beginnings: ReadonlyArray<string>, path: string, sent: Sent]

const fields: ReadonlyArray<Field> = [
  ["range", ["", "bytes", "bytes=", "bytes=1", "bytes=1-", "bytes=1-2"], blob, {}],
  ["if-range", ["", "\""], blob, { headers: { range: "bytes=0-1" } }],
  ["if-none-match", ["", "\"", "W/\"a\","], blob, {}],
  ["last-event-id", ["", "1"], cell, { headers: { accept: "text/event-stream" } }],
  ["idempotency-key", ["", "\"", "\"a\\"], `${space}/signals`, post],
  ["prefer", ["", ",", "wait", "wait=", "wait=1", "wait=\"1"], `${space}/signals`, post],
  ["prefer", ["wait=1"], cell, {}],
  ["content-type", ["application/", "application/json", "application/json;"], `${space}/signals`, post],
  ["accept", ["", "text/"], cell, {}],
  ["authorization", ["", "bearer", "Bearer ", "Rendezvous "], `${space}/rv/x/report`, post],
  ["origin", ["http://"], `${space}/signals`, post]
]

const queries = ["limit", "after", "before", "from", "path", "scope", "below", "values", "pull"]

const names = ["/a", "/*", "/**", "/:a", "/.", "/-", "/%2e", "/a*b*"]

const withField = ([field, , path, { headers, ...sent }]: Field, value: string): Hostile =>
  [field, path, { ...sent, headers: { ...headers, [field]: `${value.slice(0, FIELD)}x` } }]

const withQuery = (query: string, value: string): Hostile =>
  [query, `${space}/cells/data?${query}=${encodeURIComponent(value.slice(0, 3000))}!`, {}]

const withSignal = (name: string, payload: string): Hostile => {
  const signal = `/signals${name.repeat(300)}`
  return ["signal", `${space}/signals`, { method: "POST", headers: json, body: JSON.stringify({ signal, target: signal, payload }) }]
}

const withPath = (name: string): Hostile => ["path", `${space}/cells/data${name.repeat(1000)}`, {}]

/** A request for each value in each place. */
const requests: ReadonlyArray<Hostile> = [
  ...fields.flatMap((field) => field[1].flatMap((begin) => values.map((value) => withField(field, begin + value)))),
  ...queries.flatMap((query) => values.map((value) => withQuery(query, value))),
  ...names.flatMap((name) => [withSignal(name, "x"), withPath(name)])
]

const begin = async (target: Target): Promise<void> => {
  await save(target, [`${REFERENCES} references`, references])
  const { status, text } = await target.ask(`${space}/blobs`, { method: "PUT", body: content })
  hold(status === 201, `an upload is answered ${status} ${text.slice(0, 200)}`)
}

const save = async ({ ask }: Target, [name, text]: readonly [name: string, text: string]): Promise<void> => {
  const began = performance.now()
  const target = "/data/agent/files/heartbeat.md"
  const body = JSON.stringify({ signal: "/signals/heartbeat/save", target, payload: { text } })
  const answer = await ask(`${space}/signals`, { method: "POST", headers: { ...json, prefer: "wait=30" }, body })
  // 422 is a file that the agent refuses.
  hold(answer.status === 200 || answer.status === 422, `a save of ${name} is answered ${answer.status} ${answer.text.slice(0, 300)}`)
  const took = Math.round(performance.now() - began)
  hold(took < LONG, `a save of ${name} takes ${took} ms`)
}

/** The looks at the cost of a text. The least counts: others collect garbage, or compile code. */
const LOOKS = 3

/** The most that a hostile text may cost, in those of an ordinary one of its size. */
const TIMES = 3

/** A cost that shows nothing, in milliseconds of the processor. */
const SLIGHT = 30

/**
 * The cost of some work of a server in milliseconds of its processor, which other work of the machine does not prolong. `enough` is a
 * cost that needs no further look.
 */
const cost = async (target: Target, work: (look: number) => Promise<unknown>, enough: number): Promise<number> => {
  const { pid } = target.server.process
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < LOOKS && least > enough; i++) {
    const before = scheduled(pid).ran
    await work(i)
    least = Math.min(least, scheduled(pid).ran - before)
  }
  return least
}

/** An ordinary file of the usual size. */
const ordinary = many((i) => block(`a${i}`, "- **schedule**: daily:06:00\n"))

/** The cost of a file. Each look saves another text, since a text that is there already is not read again. */
const costOf = (target: Target, [name, text]: readonly [name: string, text: string], enough: number): Promise<number> =>
  cost(target, (look) => save(target, [name, `${text}\n${"\n".repeat(look)}`]), enough)

/** Holds that a text of the greatest size costs about as much as an ordinary one. */
const holdLinear = async (target: Target): Promise<void> => {
  const most = SLIGHT + TIMES * await costOf(target, ["an ordinary file", ordinary], 0)
  for (const file of Object.entries(hostile())) {
    const spent = await costOf(target, file, most)
    hold(spent <= most, `a save of ${file[0]} costs ${Math.round(spent)} ms of the processor, and may cost ${Math.round(most)}`)
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
    begin,
    attempt: async (target, n) => {
      if (n % SAVED === 0) return save(target, files[n / SAVED % files.length] ?? ["nothing", ""])
      const [, path, sent] = Random.pick(draw, requests)
      const { status, text } = await target.ask(path, sent)
      hold(status < 500, `${sent.method ?? "GET"} ${path.slice(0, 100)} is answered ${status} ${text.slice(0, 200)}`)
    },
    check: holdLinear
  })
}
