/**
 * The refused reports of each caller: the bound on objects that strangers wake.
 *
 * Only an object knows the tokens of its rendezvous, so the Worker in front cannot check a report. It counts those in progress and
 * those that were refused.
 *
 * @module
 */

/** The refused reports of one caller in a period, after which the Worker in front answers for the objects. */
export const MAX_REFUSED = 60

/** The length of a period, in milliseconds. */
const PERIOD = 60_000

/** The most callers that are counted. A further one replaces the oldest. */
const MAX_CALLERS = 1000

/**
 * The callers whose reports were refused, in one isolate.
 */
export class Refusals {
  private readonly byCaller = new Map<string, { count: number; readonly until: number }>()

  /** Counts a report. Returns false if its caller has to wait for the end of its period. */
  begin(caller: string, now: number): boolean {
    const known = this.byCaller.get(caller)
    if (known !== undefined && known.until > now) return known.count < MAX_REFUSED && ++known.count > 0
    this.byCaller.delete(caller)
    this.byCaller.set(caller, { count: 1, until: now + PERIOD })
    if (this.byCaller.size > MAX_CALLERS) this.byCaller.delete(this.byCaller.keys().next().value ?? "")
    return true
  }

  /** A report was not refused. */
  accepted(caller: string): void {
    const known = this.byCaller.get(caller)
    if (known !== undefined && known.count > 0) known.count--
  }
}
