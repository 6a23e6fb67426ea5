/**
 * Deliveries: effects are told what they saw, in order, when it is durable.
 *
 * What an effect does with it is its own business: it was handed over, and a
 * failure there fails nobody else, and is reported. Work that goes on is waited for where somebody
 * waits for quiet. (Architecture, section 6, "An effect is two functions".)
 *
 * @module
 */
import type { Delivery } from "../derived/DerivationPort.ts"
import type { RunSupervisor } from "../watchdog/RunSupervisor.ts"

/**
 * What effects of one space are being told.
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

  /** Told once, when nothing is being delivered any more. */
  whenQuiet(told: () => void): void {
    this.waiters.push(told)
  }

  tell({ beat, definition, value }: Delivery): void {
    try {
      this.sentry?.tells(definition.name, beat)
      const told = definition.deliver!(value, { beat, key: definition.name })
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
