import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Mailroom, SystemGrants, type Transaction } from "systole"
import instIng from "../../enzymes/inst_ing.ts"
import mrInit from "../../enzymes/mr_init.ts"
import mrRoute from "../../enzymes/mr_route.ts"
import { steps } from "../kernel/TestSpace.ts"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { stateOf } from "./FlowInstances.ts"
import { review } from "./ReviewFlow.ts"

const wrongStarts = {
  v: { flow: "none" },
  w: { flow: "review" },
  x: { flow: "review", input: { pages: 1 }, inst: "one" },
  y: { flow: "review", input: { pages: 1 }, steps: -1 },
  z: {}
}

const commands = {
  p: { inst: "one", action: "pause" },
  q: { inst: "none", action: "cancel" },
  r: { key: "one.ask", action: "rv_report", telemetry: { good: 1 } },
  s: { action: "fly" },
  t: { action: "toString" },
  u: {},
  v: { inst: "one", action: "budget", beats: -1 }
}

/** Hands in each request by its name. */
const handIn = (tx: Transaction, bucket: "inst_start" | "inst_ctrl", requests: object) => {
  for (const [name, request] of Object.entries(requests)) {
    tx.set(`/data/inbox/flow/${bucket}/${name}`, request)
    tx.signal({ signal: Mailroom.ADDED, target: `/data/inbox/flow/${bucket}/${name}`, payload: 1 })
  }
}

describe("A request to flows through the mailroom", () => {
  it.effect("is executed once, and its outcome is in its document", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([mrInit, mrRoute, instIng, ...RendezvousSpace.enzymes({
        ask: (tx) => handIn(tx, "inst_start", { r1: { flow: "review", inst: "one", input: { pages: 2 } } }),
        move: (tx) => handIn(tx, "inst_ctrl", commands),
        wrong: (tx) => handIn(tx, "inst_start", wrongStarts),
        again: (tx) => tx.signal({ signal: Mailroom.ADDED, target: "/data/flow/inbox/inst_start/r1", payload: 2 })
      }, [review])])
      yield* RendezvousSpace.begin(space)
      yield* RendezvousSpace.ask(space, "ask")
      yield* steps(space, 4)
      assert.deepInclude(
        yield* space.get("/data/flow/inbox/inst_start/r1") as unknown as Effect.Effect<object>,
        { flow: "review", outcome: "one" }
      )
      assert.strictEqual(yield* stateOf(space, "one"), "waiting")
      yield* RendezvousSpace.ask(space, "wrong")
      yield* RendezvousSpace.ask(space, "again")
      yield* RendezvousSpace.ask(space, "move")
      yield* steps(space, 3)
      const outcomes = yield* Effect.forEach(Object.keys(commands), (name) => space.get(`/data/flow/inbox/inst_ctrl/${name}#/outcome`))
      assert.deepStrictEqual(outcomes, ["ok", "refused", "ok", "unknown action", "unknown action", "unknown action", "refused"])
      const starts = yield* Effect.forEach(Object.keys(wrongStarts), (name) => Effect.map(
        space.get(`/data/flow/inbox/inst_start/${name}`),
        (request) => request as { readonly outcome?: string; readonly code?: string }
      ))
      assert.deepStrictEqual(
        starts.map(({ code, outcome }) => [outcome, code]),
        ["flow/unknown", "flow/invalid", "flow/exists", "flow/invalid", "flow/unknown"].map((code) => ["refused", code])
      )
      assert.strictEqual(yield* stateOf(space, "one"), "paused")
      assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters, [])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(
      Effect.provide(TestKernel.layer()),
      Effect.provideService(SystemGrants, new Set(["inst_ing", "mr_init", "mr_route", "rv_init"]))
    ))
})
