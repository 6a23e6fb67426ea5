/**
 * The first-party enzyme that does the background work of a rendezvous on a thread.
 *
 * The signal is `/CEP:rv_work/<key>`, with the payload `{ fn, input?, channel? }` of a channel `worker`. The value of the
 * function becomes the telemetry of the rendezvous; a value that is no object is its field `value`. A failed function kills
 * the rendezvous. The result of the handling is `applied`, the code of the failure, or `over` for a rendezvous that
 * ended, or began again, before the work did.
 *
 * @module
 */
import { Enzyme, type Transaction } from "systole"

/** The work: an export of the channel's module, and its input. */
interface Work {
  readonly fn?: string
  readonly input?: unknown
  readonly channel?: string
}

type Telemetry = Readonly<Record<string, unknown>>

const telemetryOf = (value: unknown): Telemetry => {
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain ? value as Telemetry : { value }
}

/** The entry, by the beat that spawned it; `undefined` without one. */
const spawned = (tx: Transaction, key: string): unknown => tx.get(`/data/rv/${key}#/spawn_beat`)

/** The rendezvous for which the work began. */
interface Begun {
  readonly key: string
  readonly since: unknown
}

/** Whether the rendezvous was not spawned again. */
const isSame = (tx: Transaction, { key, since }: Begun): boolean => spawned(tx, key) === since

export default Enzyme.make({
  name: "rv_work",
  query: "/CEP:rv_work/:key",
  durable: true,
  run: async (tx, { params: { key = "" }, payload }) => {
    const { channel = "worker", fn, input } = (payload ?? {}) as Work
    const since = spawned(tx, key)
    if (since === undefined) return "over"
    const begun = { key, since }
    try {
      const call = { ...fn === undefined ? {} : { fn }, ...input === undefined ? {} : { input } }
      const { value } = await tx.io.request({ channel, opcode: "run", payload: call })
      return isSame(tx, begun) && tx.rv.report(key, telemetryOf(value)) ? "applied" : "over"
    } catch (error) {
      const { code = "io/failed" } = error as { readonly code?: string }
      return isSame(tx, begun) && tx.rv.kill(key) ? code : "over"
    }
  }
})
