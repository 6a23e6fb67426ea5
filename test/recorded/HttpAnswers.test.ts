import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { served } from "../docs/Generated.ts"
import * as HttpAnswers from "./HttpAnswers.ts"
import { script } from "./HttpScript.ts"

/** Whether a path is one of a route. */
const isOf = (route: string, path: string): boolean =>
  new RegExp(`^${route.replaceAll(/:\w+/g, "[^/]+").replace("*", ".+")}$`).test(path.replace(/\?.*/, ""))

/** Routes that succeed only long after the script ends: a quarantine follows the last grace of a silent worker. */
const LATER = ["POST /v1/spaces/:space/rv/:key/release"]

describe("The answers of HTTP", () => {
  it("are as recorded, in status, headers and each field but the prose", async () => {
    const answers = await Effect.runPromise(HttpAnswers.look)
    const recorded = HttpAnswers.recorded()
    assert.deepStrictEqual(answers.filter((answer, i) => answer !== recorded[i]), recorded.filter((answer, i) => answer !== answers[i]))
  })

  it("are recorded of each route, well and badly asked", () => {
    const statuses = HttpAnswers.recorded().map((answer) => (JSON.parse(answer) as { readonly status: number }).status)
    const scant = served().filter((route) => {
      const [method = "", path = ""] = route.split(" ")
      const of = statuses.filter((_, i) => script[i]?.method === method && isOf(path, script[i]?.path ?? ""))
      return of.length < 2 || !LATER.includes(route) && !of.some((status) => status < 400)
    })
    assert.deepStrictEqual(scant, [])
  })
})
