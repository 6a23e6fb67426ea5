/**
 * The ledger of an agent over the transaction of a durable run of the same space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Transaction } from "systole"
import { GRACE_MILLIS } from "../wake/Dispatch.ts"
import * as CellStore from "./CellStore.ts"
import type { Failure, SpaceClient } from "../order/SpaceClient.ts"
import { ENDED, type Order, signal } from "../order/Order.ts"
import * as Record from "../order/Record.ts"

/** The cells that describe the enzymes of the space. */
const ENZYMES = "/sys/enzymes"

/** The beginning of the name of the enzyme of a type. */
const PREFIX = "agent_"

/** The time after which a run that has not begun is looked for among the dead letters, in milliseconds. */
const BEGIN_MILLIS = 2_000

/** The enzyme of a wake, whose run the ledger belongs to. */
export const WAKER = "heartbeat_wake"

/**
 * The failure of a run that was given up before it left a record, such as on a host without its channel. A letter may tell anything,
 * so label rules may forbid a wake to know it: then the time limit of the attempt ends it.
 */
const letterOf = (tx: Transaction, id: string, { action, file, type }: Order): Failure | undefined => {
  const read = `/rt/dead/${id}/${PREFIX}${type}`
  if (!CellStore.mayKnow(tx, { enzyme: WAKER, read, written: Record.cell(file, action) })) return undefined
  const letter = tx.get(read) as { readonly code?: string } | undefined
  if (letter === undefined) return undefined
  const { code = "agent/unhandled" } = letter
  const reason = code === "io/channel-absent" ? "this host has no channel for it" : "its run was given up; systole dead tells why"
  return { code, message: `${reason} (${code})` }
}

/** The cells of records. */
const RECORD = /^\/data\/agent\/[^/]+\/actions\/[^/]+$/

/** A record without its output, which may be long: a durable run keeps all that it reads in its log. */
const recordAt = (tx: Transaction, cell: string): unknown => {
  const keys = tx.keys(cell)
  if (keys?.includes("output") !== true) return tx.get(cell)
  return Object.fromEntries(keys.filter((key) => key !== "output").map((key) => [key, tx.get(`${cell}#/${key}`)]))
}

/** The type of an action, of which the name of an enzyme tells. */
const typeOf = (name: string): ReadonlyArray<string> => name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []

/**
 * The ledger over a transaction. `types` are the ones that each space with an agent has.
 */
export const make = (tx: Transaction, types: ReadonlyArray<string>): SpaceClient["Service"] => {
  // A run hears the signals of a pair in order, so a wait that was given up is continued by the next one.
  const waits = new Map<string, Promise<void>>()
  const told = (cell: string): Promise<void> => {
    tx.hear(ENDED, cell)
    const found = waits.get(cell) ?? tx.waitForSignal(ENDED, cell).then(() => void waits.delete(cell))
    waits.set(cell, found)
    return found
  }
  const changed: SpaceClient["Service"]["changed"] = (cell, millis) =>
    Effect.raceFirst(Effect.promise(() => told(cell)), Effect.sleep(Math.max(1, millis)))
  return {
    queries: Effect.sync(() => [...types, ...tx.list(ENZYMES).flatMap(typeOf)].map(signal)),
    get: (cell) => Effect.sync(() => RECORD.test(cell) ? recordAt(tx, cell) : tx.get(cell)),
    all: (cell) => Effect.sync(() => tx.list(cell).map((name) => recordAt(tx, `${cell}/${name}`))),
    list: (cell) => Effect.sync(() => tx.list(cell)),
    set: (cell, value) => Effect.sync(() => tx.set(cell, value)),
    remove: (cell) => Effect.sync(() => tx.delete(cell)),
    changed,
    send: Effect.fnUntraced(function*({ payload, signal }) {
      const order = payload as Order
      const cell = Record.cell(order.file, order.action)
      const until = tx.now + order.timeoutMs + GRACE_MILLIS
      tx.hear(ENDED, cell)
      const id = tx.signal({ signal, payload: order })
      for (let hasBegun = false;;) {
        const left = until - tx.now
        yield* changed(cell, hasBegun ? left : Math.min(BEGIN_MILLIS, left))
        const record = Record.read(recordAt(tx, cell))
        hasBegun ||= Record.isOf(record, order)
        if (Record.isOf(record, order) && record.status !== "running") return "handled"
        const letter = hasBegun ? undefined : letterOf(tx, id, order)
        if (letter !== undefined) return letter
        if (tx.now >= until) return "known"
      }
    })
  }
}
