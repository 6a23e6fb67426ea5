import { assert, describe, it } from "@effect/vitest"
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from "@redocly/openapi-core"
import { gzipSync } from "node:zlib"
import * as Api from "../../src/contract/Api.ts"
import * as Refusals from "../../src/contract/EndpointRefusals.ts"
import * as OpenApi from "../../src/contract/OpenApi.ts"
import { isOf } from "../../src/contract/Paths.ts"
import { kinds } from "../../src/contract/Refusal.ts"
import { endpoints } from "../docs/Generated.ts"
import * as HttpAnswers from "../recorded/HttpAnswers.ts"
import { script } from "../recorded/HttpScript.ts"
import { present } from "../support/Present.ts"

const all = endpoints()
const document = OpenApi.make(all) as unknown as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

const text = JSON.stringify(document)

describe("The OpenAPI document", () => {
  it("has no fault that a linter finds", async () => {
    // The probes refuse nothing.
    const config = await createConfig({ extends: ["recommended"], rules: { "operation-4xx-response": "off" } })
    const source = makeDocumentFromString(text, "/openapi.json")
    const problems = await lintDocument({ document: source, config, externalRefResolver: new BaseResolver(config.resolve) })
    assert.deepStrictEqual(problems.map(({ location: [at], message, ruleId }) => `${ruleId}: ${message} ${at?.pointer}`), [])
  })

  it("has each endpoint once, with its parameters, bodies, statuses and the codes of its refusals", () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    assert.lengthOf(operations, all.length)
    assert.lengthOf(new Set(operations.map(({ operationId }) => operationId)), all.length)
    for (const endpoint of all) {
      const operation = present(operations.find(({ operationId }) => operationId === Api.nameOf(endpoint)))
      const statuses = Object.keys(operation.responses)
      for (const status of [endpoint.status, ...Object.keys(endpoint.others ?? {})]) assert.include(statuses, String(status))
      for (const [status, codes] of Refusals.byStatus(endpoint)) {
        for (const code of codes) assert.include(operation.responses[status]?.description, code)
      }
      for (const type of Object.keys(endpoint.bodies ?? {})) assert.property(operation.requestBody?.content, type)
      const placed = operation.parameters.filter((parameter) => parameter.in === "path")
      assert.lengthOf(placed, endpoint.path.split("/").filter((segment) => /^[:*]/.test(segment)).length)
    }
  })

  it("is less than 17 kB compressed", () => assert.isBelow(gzipSync(text).length, 17_000))
})

describe("The refusals of an endpoint", () => {
  it("are codes with a kind", () => {
    const codes = new Set(all.flatMap((endpoint) => Refusals.of(endpoint)))
    assert.deepStrictEqual([...codes].filter((code) => kinds[code] === undefined), [])
  })

  it("have each code with which it was recorded", () => {
    const answers = HttpAnswers.recorded().map((line) => JSON.parse(line) as { readonly status: number; readonly body: unknown })
    const missing = answers.flatMap(({ body, status }, i) => {
      const { method, path } = present(script[i])
      const { code, event } = (body ?? {}) as { readonly code?: string; readonly event?: unknown }
      const endpoint = all.find((each) => each.method === method && isOf(each.path, path.replace(/\?.*/, "")))
      if (endpoint === undefined || status < 300 || code === undefined || event !== undefined) return []
      return Refusals.of(endpoint).includes(code) ? [] : [`${method} ${path}: ${code}`]
    })
    assert.deepStrictEqual(missing, [])
  })
})
