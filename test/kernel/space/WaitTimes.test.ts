import { assert, describe, it } from "@effect/vitest"
import { Enzyme, InvalidSignal } from "systole"
import { expectCell, TestSpace } from "systole/testing"

const mark = Enzyme.make({ name: "mark", query: "/signals/mark", run: (tx) => tx.set("/data/marked", tx.now) })

const later = Enzyme.make({
  name: "later",
  query: "/signals/later",
  run: (tx, { payload }) => tx.signal({ signal: "/signals/mark", at: payload as string })
})

const sleepy = Enzyme.make({
  name: "sleepy",
  query: "/signals/sleep",
  durable: true,
  retry: { attempts: 1 },
  run: async (tx, { payload }) => {
    await tx.sleep(payload as string)
    tx.set("/data/marked", tx.now)
  }
})

const bidder = Enzyme.make({
  name: "bidder",
  query: "/op/*",
  bind: ["/rt/ops"],
  run: (tx, { signal }) => tx.set("/data/heard", String(signal))
})

const opened = Enzyme.make({
  name: "opened",
  query: "/signals/open",
  run: (tx, { payload }) => {
    const oid = tx.op.start({ verb: "op/work", target: "work", mode: "opm:direct" })
    tx.op.await(oid, "sts:ok", { signal: "/op/done", ttl: payload as string })
  }
})

/** Checks that the cell is absent until the end of the wait, and there at its end. */
const checkWait = (request: Parameters<TestSpace["handled"]>[0], place: string) => async (space: TestSpace) => {
  await space.signal(request)
  await space.idle()
  await space.advance(9_999)
  await space.idle()
  await expectCell(space, place, undefined)
  await space.advance(1)
  await space.idle()
  assert.isDefined(await space.get(place))
}

describe("A wait that is given as a time", () => {
  it("delays a signal from outside", () =>
    TestSpace.use([mark], checkWait({ signal: "/signals/mark", at: "10s" }, "/data/marked")))

  it("delays a signal of a run", () =>
    TestSpace.use([mark, later], checkWait({ signal: "/signals/later", payload: "10s" }, "/data/marked")))

  it("is the length of a sleep", () =>
    TestSpace.use([sleepy], checkWait({ signal: "/signals/sleep", payload: "10s" }, "/data/marked")))

  it("is the time-out of an awaited operation", () =>
    TestSpace.use([bidder, opened], async (space) => {
      await space.signal({ signal: "/signals/open", payload: "10s" })
      await space.idle()
      await space.advance(10_000)
      await space.step(101)
      await expectCell(space, "/data/heard", "/op/tmo")
    }))

  it("is refused if it is none", () =>
    TestSpace.use([mark, later, sleepy, opened], async (space) => {
      for (const at of ["10", "10 s", "soon", "-1s", "400d"]) {
        const error = await space.signal({ signal: "/signals/mark", at }).then(() => undefined, (error: unknown) => error)
        assert.instanceOf(error, InvalidSignal)
        assert.include(error.message, "give a time such as \"10s\", or { beats: 3 }")
        for (const signal of ["/signals/later", "/signals/sleep", "/signals/open"]) {
          // A text of digits is a number of beats for operations, as it is for rendezvous.
          if (signal === "/signals/open" && at === "10") continue
          const { handlings, status } = await space.handled({ signal, payload: at })
          assert.strictEqual(status, "dead", `${signal} ${at}`)
          assert.include(handlings[0]?.error?.message ?? "", "such as \"10s\"")
        }
      }
    }))
})
