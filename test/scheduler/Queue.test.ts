import { assert, describe, it } from "@effect/vitest"
import { Computation } from "systole"
import { MATERIALIZER } from "../../src/scheduler/graph/Flag.ts"
import { Node } from "../../src/scheduler/graph/Node.ts"
import { Queue } from "../../src/scheduler/graph/Queue.ts"
import * as Trials from "../support/Trials.ts"

const definition = Computation.make({ name: "node", output: "/node", run: () => 1 })

/** Reproducible numbers, from 0 up to 1. */
const chance = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 4_294_967_296
}

const place = ({ flags, level, ordinal }: Node): string =>
  `${(flags & MATERIALIZER) === 0 ? String(level).padStart(3, "0") : "behind"} ${String(ordinal).padStart(5, "0")}`

describe("Queue", () => {
  it("returns the lowest level first, then by ordinal, in any order of insertion and raising", () => {
    for (const seed of Trials.seeds(200, { from: 1 })) {
      const draw = chance(seed)
      const queue = new Queue()
      const nodes = Array.from({ length: 1 + Math.floor(draw() * 60) }, (_, ordinal) => {
        const node = new Node(definition, ordinal, draw() < 0.1 ? MATERIALIZER : 0)
        node.level = Math.floor(draw() * 6)
        return node
      })
      const waiting = new Set<Node>()
      for (let step = 0; step < 400; step++) {
        const node = nodes[Math.floor(draw() * nodes.length)]!
        if (draw() < 0.55) {
          queue.push(node)
          waiting.add(node)
        } else if (draw() < 0.3 && waiting.has(node)) node.level++
        else {
          const first = [...waiting].sort((a, b) => place(a) < place(b) ? -1 : 1)[0]
          const levels = [...waiting].filter(({ flags }) => (flags & MATERIALIZER) === 0).map(({ level }) => level)
          const past = Math.floor(draw() * 8)
          if (queue.isPast(past)) assert.isTrue(levels.every((level) => level > past), `seed ${seed}, step ${step}`)
          assert.strictEqual(queue.pop(), first, `seed ${seed}, step ${step}`)
          if (first !== undefined) waiting.delete(first)
        }
        assert.strictEqual(queue.isEmpty, waiting.size === 0)
      }
    }
  })
})
