/**
 * The scenario of durable runs, over the channel that counts its executions.
 *
 * A run charges, pays, hears a signal and sleeps. Each segment counts once.
 *
 * @module
 */
import { Enzyme, type Transaction } from "systole"
import { world } from "./RequestScenario.ts"
import { counting, done, type Numbered, post, posts, type Scenario } from "./Scenario.ts"

const CONFIRMED = "/signals/confirmed"

/** The cell at which the run of an event hears its confirmation. */
const orderOf = (payload: unknown): string => `/data/orders/${(payload as Numbered).n}`

const buy = Enzyme.make({
  name: "buy",
  query: "/signals/buy",
  durable: true,
  hears: ({ payload }) => [{ signal: CONFIRMED, target: orderOf(payload) }],
  run: async (tx: Transaction, event) => {
    const { payload } = event
    const late = tx.sleep(10_000)
    done(tx, event, "bought")
    await tx.io.request({ channel: "bank", opcode: "charge", payload })
    done(tx, event, "charged")
    const paid = tx.io.request({ channel: "bank", opcode: "pay", payload })
    const code = await paid.then(() => undefined, (error: { readonly code: string }) => error.code)
    // The result depends on the moment of a fault.
    done(tx, event, code === undefined || code === "io/interrupted" ? "paid" : `paid ${code}`)
    await Promise.all([tx.waitForSignal(CONFIRMED, orderOf(payload)), tx.sleep(20)])
    done(tx, event, "confirmed")
    await Promise.race([late, tx.sleep({ beats: 2 })])
    done(tx, event, "slept")
  }
})

/** Confirms an order. Without an id, its loss would leave the run of the order waiting. */
const confirm = (n: number, order: number) => post("confirm", n, { id: `id-${n}`, with: { order } })

export const durableRuns: Scenario = {
  name: "durable runs that ask, hear and sleep",
  world,
  enzymes: [
    buy,
    counting("confirm", (tx, { payload }) => {
      const { order } = payload as unknown as { readonly order: number }
      tx.signal({ signal: CONFIRMED, target: orderOf({ n: order }), payload: order })
    }),
    counting("poke")
  ],
  rounds: [posts("buy", [0, 2]), [confirm(10, 0), ...posts("poke", [20, 20]), confirm(11, 1)], [confirm(12, 2)]]
}
