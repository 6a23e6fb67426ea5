/**
 * Faults of a SQL driver: SQLite refuses a transaction, or fails before or after its commit.
 *
 * @module
 */
import { PersistenceError, type SqlDriver, StoreBusy, StoreUnavailable } from "systole"
import { over } from "./Over.ts"

/** The faults: the first two refuse the transaction, the third fails in its place, and the last one after it took its effect. */
export const faultKinds = ["busy", "read-only", "full", "unclear"] as const
export type FaultKind = typeof faultKinds[number]

/** The transaction with this number, counted over all spaces since the first action, fails in this way. */
export interface Fault {
  readonly transaction: number
  readonly kind: FaultKind
}

/** The words of SQLite. */
const details = {
  "read-only": "attempt to write a readonly database", "full": "database or disk is full", "unclear": "disk I/O error"
} as const

/** The drivers of a world. */
export class Drivers {
  private transactions = 0
  private readonly faults: ReadonlyMap<number, FaultKind>
  private readonly isWell: () => boolean
  private readonly count: (kind: string) => void

  constructor(faults: ReadonlyArray<Fault>, { count, isWell }: { readonly isWell: () => boolean; readonly count: (kind: string) => void }) {
    this.faults = new Map(faults.map(({ kind, transaction }) => [transaction, kind]))
    this.isWell = isWell
    this.count = count
  }

  /** A driver with the faults of the world. */
  readonly around = (driver: SqlDriver, space: string): SqlDriver => {
    const { place } = driver
    const fail = (kind: "read-only" | "full" | "unclear"): never => {
      throw new PersistenceError({ reason: new StoreUnavailable({ space, place, detail: details[kind] }) })
    }
    return over(driver, {
      transaction: (body) => {
        const kind = this.take()
        if (kind === "busy") throw new PersistenceError({ reason: new StoreBusy({ space, place }) })
        if (kind === "read-only") return fail(kind)
        const result = driver.transaction(() => {
          const made = body()
          return kind === "full" ? fail(kind) : made
        })
        return kind === "unclear" ? fail(kind) : result
      }
    })
  }

  private take(): FaultKind | undefined {
    const kind = this.isWell() ? undefined : this.faults.get(this.transactions++)
    if (kind !== undefined) this.count(`driver ${kind}`)
    return kind
  }
}
