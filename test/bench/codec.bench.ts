/**
 * The cost of the codec compared to that of the platform: text and value of a
 * document of the size of a small signal.
 *
 * @module
 */
import * as Document from "../../src/cell/Document.ts"
import type { Bench } from "./Bench.ts"
import { perSecond } from "./Bench.ts"

const COUNT = 20_000

const make = (n: number) => ({
  at: 1_700_000_000_000 + n,
  items: [1, 2, 3],
  name: `order ${n}`,
  note: "x".repeat(60),
  total: { amount: n, currency: "EUR" }
})
const texts = Array.from({ length: COUNT }, (_, n) => JSON.stringify(make(n)))

const each = (work: (n: number) => unknown) => perSecond(COUNT, () => {
  for (let n = 0; n < COUNT; n++) work(n)
})

const bench: Bench = {
  note: "Baseline: the platform's JSON over the same objects, keys in order.",
  cases: [
    {
      name: "value to text",
      unit: "documents/s",
      baseline: "JSON.stringify",
      contenders: {
        "JSON.stringify": each((n) => JSON.stringify(make(n))),
        encode: each((n) => Document.encode(make(n)))
      }
    },
    {
      name: "text to value",
      unit: "documents/s",
      baseline: "JSON.parse",
      contenders: {
        "JSON.parse": each((n) => JSON.parse(texts[n]!)),
        decode: each((n) => Document.decode(texts[n]!))
      }
    }
  ]
}

export default bench
