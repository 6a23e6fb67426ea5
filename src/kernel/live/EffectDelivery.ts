/**
 * Effect delivery: durable values are delivered to effects, in order.
 *
 * An effect is responsible for its own work. A failed delivery is reported and affects
 * no other one. `idle` waits for asynchronous deliveries.
 *
 * @module
 */
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Delivery } from "../derived/DerivationPort.ts"

/** The parts of a space that a delivery needs. */
type Delivering = Pick<LiveState, "host" | "reporter" | "watchdog" | "space">

/**
 * The deliveries of one space.
 */
export class EffectDelivery {
  private open = 0
  private waiters: Array<() => void> = []
  private readonly state: Delivering

  constructor(state: Delivering) {
    this.state = state
  }

  get isQuiet(): boolean {
    return this.open === 0
  }

  /** Calls back once, when no delivery is in progress. */
  whenQuiet(told: () => void): void {
    this.waiters.push(told)
  }

  tell({ beat, definition, value }: Delivery): void {
    const { host, watchdog } = this.state
    try {
      watchdog?.enterEffect(definition.name, beat)
      const told = host.scope.outside(() => definition.deliver?.(value, { beat, key: definition.name }))
      if (!(told instanceof Promise)) return
      this.open++
      void told.catch((error: unknown) => this.failed(definition.name, error)).finally(() => this.close())
    } catch (error) {
      this.failed(definition.name, error)
    } finally {
      watchdog?.leaveEffect()
    }
  }

  private failed(effect: string, error: unknown): void {
    const { reporter, space } = this.state
    reporter.report(UnexpectedFailure.after("node/undelivered", error, {
      space,
      origin: { kind: "node", name: effect },
      what: "what it was told failed it"
    }))
  }

  private close(): void {
    if (--this.open > 0) return
    const { waiters } = this
    this.waiters = []
    for (const told of waiters) told()
  }
}
