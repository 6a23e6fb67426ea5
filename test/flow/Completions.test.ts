import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Flow } from "systole"
import * as RendezvousSpace from "../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Writes the cells of its payload, those of the runtime as well. */
const odd = Enzyme.make({
  name: "odd",
  query: "/signals/odd",
  run: (tx, { payload }) => {
    for (const [cell, value] of Object.entries(payload as object)) tx.set(cell, value ?? undefined)
  }
})

const follow = Flow.make({ name: "follow", steps: { hear: { wait: ({ input }) => `CEP:sig_rv/${input as string}` } } })

/** The signals that the beats of a journal sent to instances. */
const sentTo = (entry: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(entry).matchAll(/CEP:sig_flow\/follow[^/]*\/data\/flow\/inst\/(\w)/g)].map(([, inst = ""]) => inst)

describe("Completions of one beat", () => {
  it.effect("reach flows in the order of their entries, wherever their events were written before", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        follow: (tx) => ["a", "b"].forEach((key) => tx.flow.start("follow", key, { inst: key })),
        spawn: (tx) => ["a", "b"].forEach((key) => void tx.rv.spawn({ key, due_off: 50 })),
        report: (tx) => ["a", "b"].forEach((key) => void tx.rv.report(key))
      }, [follow, odd])
      for (const verb of ["follow", "spawn"]) yield* RendezvousSpace.ask(space, verb)
      yield* space.signal({ signal: "/signals/odd", payload: { "/data/inbox/flow/inst_event/b": "old" } })
      yield* RendezvousSpace.ask(space, "report")
      const beat = yield* space.head
      assert.deepStrictEqual(sentTo(yield* space.journal(beat)), ["a", "b"])
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("are all that a commit takes from entries, so that the others need no tempo", () =>
    Effect.gen(function*() {
      const spec = { key: "job", due: 2, deadline: 90, max_grace: 3, grace_delta: 9 }
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn(spec) }, [odd])
      yield* RendezvousSpace.ask(space, "spawn")
      const entry = (yield* RendezvousSpace.entry(space, "job")) as object
      yield* space.signal({ signal: "/signals/odd", payload: { "/data/rv/job": { ...entry, state: "ready", due: 40 } } })
      const beat = yield* space.step
      assert.deepInclude(yield* RendezvousSpace.entry(space, "job"), { state: "ready", due: 40 })
      assert.notMatch(JSON.stringify(yield* space.journal(beat)), /tempo/)
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))
})
