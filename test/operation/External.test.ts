import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isReplayedEqual } from "../conformance/ReplayCheck.ts"
import { controlled, enzyme } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const request = { verb: "op/render", target: "/data/scene", mode: "opm:states" } as const

describe("operations from outside", () => {
  it.effect("are started, moved and closed by the next beat, seen by its runs, and listed", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("look", (tx) => tx.set("/data/seen", tx.op.get("OPS:0.x.0") ?? "none"))])
      yield* space.signal({ signal: "/signals/look" })
      const started = yield* controlled(space, space.ops.start({ ...request, payload: new Map([["a", 1n]]) }))
      assert.deepStrictEqual(started._tag === "Success" && started.success, { oid: "OPS:0.x.0", beat: 0 })
      assert.strictEqual(yield* space.get("/data/seen"), "oid=OPS:0.x.0 state=ist:run closed=0 status=- watchers=0")
      yield* controlled(space, space.ops.start(request))
      yield* controlled(space, space.ops.state("OPS:0.x.0", { state: "ist:plan", code: 4, note: "soon" }))
      yield* controlled(space, space.ops.close("OPS:0.x.0", { status: "sts:cnl", summary: { why: new Date(5) } }))
      const first = yield* space.ops.list({ limit: 1 })
      assert.deepStrictEqual(first, {
        operations: [{
          oid: "OPS:0.x.0", verb: "op/render", target: "/data/scene", mode: "opm:states", state: "ist:cnl", code: 0, status: "sts:cnl",
          watchers: 0
        }],
        next: "OPS:0.x.0"
      })
      const rest = yield* space.ops.list({ limit: 5, after: first.next })
      assert.deepStrictEqual([rest.operations.map(({ oid }) => oid), rest.next], [["OPS:1.x.0"], undefined])
      const dossier = yield* space.ops.get("OPS:0.x.0")
      assert.deepStrictEqual([dossier?.payload, dossier?.close], [
        new Map([["a", 1n]]),
        { status: "sts:cnl", closed_beat: 3, summary: { why: new Date(5) } }
      ])
      assert.deepStrictEqual(dossier?.history.map(({ beat, number, state }) => [number, beat, state]), [
        [1, 0, "ist:run"],
        [2, 2, "ist:plan"],
        [3, 3, "ist:cnl"]
      ])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))
})
