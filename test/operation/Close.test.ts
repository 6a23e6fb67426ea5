import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isReplayedEqual } from "../conformance/ReplayCheck.ts"
import { controlled, enzyme } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const request = { verb: "op/render", target: "/data/scene", mode: "opm:states" } as const
const OID = "OPS:0.x.0"

describe("The close of an operation", () => {
  it.effect("resets code and note, unless its state was set in the same beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("both", (tx) => {
        const oid = tx.op.start(request)
        tx.op.setState(oid, "ist:fail", { code: 9, note: "no paper" })
        tx.op.close(oid, "sts:fail")
      })])
      yield* controlled(space, space.ops.start(request))
      yield* controlled(space, space.ops.state(OID, { state: "ist:plan", code: 4, note: "page 3" }))
      yield* controlled(space, space.ops.close(OID, { status: "sts:ok" }))
      const closed = (yield* space.get(`/rt/ops/${OID}`)) as object
      assert.deepInclude(closed, { state: "ist:ok", code: 0 })
      assert.notProperty(closed, "note")
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${OID}/history/OPH:3`), { beat: 2, state: "ist:ok", code: 0 })
      yield* space.signal({ signal: "/signals/both" })
      yield* space.step
      assert.deepInclude(yield* space.get("/rt/ops/OPS:3.0.0"), { state: "ist:fail", code: 9, note: "no paper" })
      assert.deepStrictEqual(yield* space.list("/rt/ops/OPS:3.0.0/history"), ["OPH:1", "OPH:2"])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})
