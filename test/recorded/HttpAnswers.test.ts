import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import { isOf } from "../../src/contract/Paths.ts"
import { endpoints } from "../docs/Generated.ts"
import * as HttpAnswers from "./HttpAnswers.ts"
import { script } from "./HttpScript.ts"

const all = endpoints()

/** The endpoint of a request: the first one with its method and path. */
const endpointOf = ({ method, path }: { readonly method: string; readonly path: string }): Endpoint | undefined =>
  all.find((endpoint) => endpoint.method === method && isOf(endpoint.path, path.replace(/\?.*/, "")))

/** Routes that succeed only long after the script ends, as a quarantine follows the last grace of a silent worker, or with frames. */
const LATER = [
  "/v1/spaces/:space/rv/:key/release", "/v1/spaces/:space/export", "/v1/spaces/:space/import/:id", "/v1/spaces/:space/detached"
]

/** An answer as it is recorded. */
interface Recorded {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: unknown
}

const recorded = (): ReadonlyArray<Recorded> => HttpAnswers.recorded().map((answer) => JSON.parse(answer) as Recorded)

/** The faults of a value by its schema. Prose is not recorded. */
const faultsOf = (schema: Schema.Top, value: unknown): ReadonlyArray<string> => {
  const exit = Schema.decodeUnknownExit(schema as Schema.Codec<unknown>, { errors: "all", onExcessProperty: "error" })(value)
  return exit._tag === "Success" ? [] : String(exit.cause).split("\n").filter((line, _, lines) =>
    /^\s+at \[/.test(line) && !/\["(?:detail|reason)"\]\W*$/.test(line) || lines.length === 1)
}

/** The faults of the events of a stream. */
const faultsOfEvents = ({ events = {} }: Endpoint, text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].flatMap(([, event = "", data = ""]) => {
    const schema = events[event]
    return schema === undefined ? [`there is no event ${event}`] : faultsOf(schema(), JSON.parse(data))
  })

/** The differences between an answer and the schema of its endpoint. */
const faultsIn = (endpoint: Endpoint, { body, headers, status }: Recorded): ReadonlyArray<string> => {
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? ""
  if (type.startsWith("text/event-stream")) return faultsOfEvents(endpoint, String(body))
  const schema = status === endpoint.status ? endpoint.answer : endpoint.others?.[status]
  if (schema === undefined) return [`there is no answer with ${status}`]
  return type.includes("json") ? faultsOf(schema(), body) : []
}

describe("The answers of HTTP", () => {
  it("are as recorded, in status, headers and each field but the prose", async () => {
    const answers = await Effect.runPromise(HttpAnswers.look)
    const recorded = HttpAnswers.recorded()
    assert.deepStrictEqual(answers.filter((answer, i) => answer !== recorded[i]), recorded.filter((answer, i) => answer !== answers[i]))
  })

  it("are recorded of each route, well and badly asked", () => {
    const answers = recorded()
    const scant = all.filter((endpoint) => {
      const of = answers.filter((_, i) => endpointOf(script[i]!) === endpoint)
      return of.length < 2 || !LATER.includes(endpoint.path) && !of.some(({ status }) => status < 400)
    })
    assert.deepStrictEqual(scant.map(({ method, path }) => `${method} ${path}`), [])
  })

  it("fit the schemas of their endpoints", () => {
    const faults = recorded().flatMap((answer, i) => {
      const endpoint = endpointOf(script[i]!)
      const checked = endpoint === undefined || answer.status >= 400 ? [] : faultsIn(endpoint, answer)
      return checked.map((fault) => `${script[i]!.method} ${script[i]!.path}: ${fault}`)
    })
    assert.deepStrictEqual(faults, [])
  })
})
