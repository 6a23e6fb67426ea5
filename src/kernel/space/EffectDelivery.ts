/**
 * Effect delivery: durable values are delivered to effects, in order.
 *
 * An effect is responsible for its own work. A failed delivery is reported and affects
 * no other one. `idle` waits for asynchronous deliveries.
 *
 * @module
 */
import type { Delivery } from "../derived/DerivationPort.ts"
import type { RunSupervisor } from "../watchdog/RunSupervisor.ts"

/**
 * The deliveries of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class EffectDelivery {
  private open = 0
  private waiters: Array<() => void> = []
  private readonly failed: (effect: string, error: unknown) => void

  private readonly sentry: RunSupervisor | undefined

  constructor(sentry: RunSupervisor | undefined, failed: (effect: string, error: unknown) => void) {
    this.sentry = sentry
    this.failed = failed
  }

  get isQuiet(): boolean {
    return this.open === 0
  }

  /** Calls back once, when no delivery is in progress. */
  whenQuiet(told: () => void): void {
    this.waiters.push(told)
  }

  tell({ beat, definition, value }: Delivery): void {
    try {
      this.sentry?.tells(definition.name, beat)
      const told = definition.deliver?.(value, { beat, key: definition.name })
      if (!(told instanceof Promise)) return
      this.open++
      void told.catch((error: unknown) => this.failed(definition.name, error)).finally(() => this.close())
    } catch (error) {
      this.failed(definition.name, error)
    } finally {
      this.sentry?.told()
    }
  }

  private close(): void {
    if (--this.open > 0) return
    const { waiters } = this
    this.waiters = []
    for (const told of waiters) told()
  }
}
