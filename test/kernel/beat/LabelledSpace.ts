/**
 * Spaces with label rules, for tests.
 *
 * @module
 */
import { Effect as Fx } from "effect"
import type { Space } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, handlingOf } from "../TestSpace.ts"

/** The labels of the space: cells below `/data/pay` are secret. */
export const labels = {
  cells: { "/data/pay/**": ["salary"], "/data/both": ["salary", "health"], "/cas/*": ["salary"] },
  declassify: { publish: ["salary"] }
}

export const layer = TestKernel.layer({ labels })

/** A reader without clearance. */
export const open = { name: "web", atoms: [] }

/** The outcome, code and label of the only handling of a signal. */
export const ended = Fx.fnUntraced(function*(space: Space, name: string, payload?: unknown) {
  const { id } = yield* space.signal({ signal: `/signals/${name}`, ...(payload === undefined ? {} : { payload }) })
  yield* space.step
  const { error, label, outcome, value } = yield* handlingOf(space, id)
  return { outcome, code: error?.code, label: label ?? [], value, id }
})

/** A space with these enzymes and a secret. */
export const paid = Fx.fnUntraced(function*(...enzymes: Parameters<typeof TestKernel.space>[0]) {
  const space = yield* TestKernel.space(enzymes)
  yield* controlled(space, space.set("/data/pay/ann", 5))
  return space
})
