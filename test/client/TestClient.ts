/**
 * A client of an ingress in this process, and a clock for tests.
 *
 * @module
 */
import { connect, type Platform, type Settings } from "../../src/client/index.ts"
import type { TestIngress } from "../ingress/TestIngress.ts"

/** A client of a test's ingress. It sleeps for no time. */
export const clientOf = (app: Pick<TestIngress, "fetch">, settings: Settings = {}) =>
  connect({ ...settings, platform: { ...clientPlatform(app), ...settings.platform } })

/** The host of such a client. */
export const clientPlatform = ({ fetch }: Pick<TestIngress, "fetch">): Pick<Platform, "fetch" | "sleep"> => ({ fetch, sleep: forever })

/** Sleeps until its signal is aborted, for clients that never wait. */
const forever: Platform["sleep"] = (_, abort) =>
  new Promise((resolve) => abort.aborted ? resolve() : abort.addEventListener("abort", () => resolve(), { once: true }))

/** A clock that a test moves. */
export class ManualClock {
  time = 1_000_000
  /** The milliseconds of each sleep, in order. */
  readonly slept: Array<number> = []
  private readonly waiting = new Set<{ readonly due: number; readonly end: () => void }>()

  readonly now = (): number => this.time

  readonly sleep: Platform["sleep"] = (ms, abort) =>
    new Promise((resolve) => {
      if (abort.aborted) return resolve()
      this.slept.push(ms)
      const end = (): void => {
        this.waiting.delete(entry)
        resolve()
      }
      const entry = { due: this.time + ms, end }
      this.waiting.add(entry)
      abort.addEventListener("abort", end, { once: true })
    })

  /** Ends the sleeps that are due within milliseconds, in order. */
  pass(ms: number): void {
    this.time += ms
    for (const { due, end } of [...this.waiting].sort((a, b) => a.due - b.due)) if (due <= this.time) end()
  }

  get platform(): Pick<Platform, "now" | "sleep"> {
    return { now: this.now, sleep: this.sleep }
  }
}
