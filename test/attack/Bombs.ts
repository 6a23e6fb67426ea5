/**
 * Bodies that are small to send and large to read.
 *
 * @module
 */
import type { Attack } from "./Attack.ts"
import { codeOf, hold } from "./Targets.ts"

const RICH = "application/vnd.systole.rich+json"

/** A graph of 2^n paths: each array refers to the next one twice. */
const graph = (depth: number): object => {
  const equalities = Array.from({ length: depth - 1 }, (_, i) => [`${i + 1}`, [`${i}.0`, `${i}.1`]])
  return {
    json: Array.from({ length: depth }, () => []),
    meta: { referentialEqualities: Object.fromEntries(equalities), v: 1 }
  }
}

const annotated: ReadonlyArray<object> = [
  { json: { length: 4e9 }, meta: { values: [["typed-array", "Uint8Array"]], v: 1 } },
  { json: { length: 4e9 }, meta: { values: [["typed-array", "Float64Array"]], v: 1 } },
  { json: 4e9, meta: { values: [["typed-array", "Uint8Array"]], v: 1 } },
  { json: "9".repeat(900_000), meta: { values: ["bigint"], v: 1 } },
  { json: "/(a+)+$/", meta: { values: ["regexp"], v: 1 } },
  { json: { message: "x" }, meta: { values: ["Error"], v: 1 } },
  { json: {}, meta: { values: { [`a${".a".repeat(100_000)}`]: ["Date"] }, v: 1 } },
  { json: { a: [] }, meta: { values: { a: ["set"], "a.0": ["set"] }, v: 1 } },
  { json: "x", meta: { values: ["symbol"], v: 0 } },
  graph(60)
]

const bodies: ReadonlyArray<string> = [
  "[".repeat(500_000),
  `${"[".repeat(500_000)}${"]".repeat(500_000)}`,
  "{\"a\":".repeat(200_000),
  "9".repeat(1_000_000),
  `"${"\\u0000".repeat(150_000)}"`,
  `{"__proto__":{"a":1}}`
]

export const bombs: ReadonlyArray<Attack> = [
  {
    name: "12 rich types",
    holds: "each is refused with 400, in time and memory of its length",
    run: async ({ open }) => {
      for (const $rich of annotated) {
        const answer = await open.ask("/v1/spaces/bombs/cells/data/x", {
          method: "PUT",
          headers: { "content-type": RICH },
          body: JSON.stringify({ $rich })
        })
        hold(answer.status === 400, `${JSON.stringify($rich).slice(0, 100)} is answered ${answer.status} ${answer.text.slice(0, 200)}`)
      }
      return annotated.length
    }
  },
  {
    name: "12 deep and long JSON",
    holds: "each is refused or kept as it is",
    run: async ({ open }) => {
      for (const body of bodies) {
        for (const path of ["/v1/spaces/bombs/cells/data/x", "/v1/spaces/bombs/signals"]) {
          const method = path.endsWith("signals") ? "POST" : "PUT"
          const answer = await open.ask(path, { method, headers: { "content-type": "application/json" }, body })
          hold(answer.status < 500, `${body.slice(0, 50)} at ${path} is answered ${answer.status} ${codeOf(answer)}`)
        }
      }
      return bodies.length * 2
    }
  }
]
