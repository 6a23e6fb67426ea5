/**
 * Time and spaces of tests of connections: waits pass at once, and the spaces take signals as the test says.
 *
 * @module
 */
import { Channel } from "systole"
import type { World } from "../../../plugins/connection/Wait.ts"

/** A world whose waits pass with the next turn of the host. `waits` has them. */
export const make = () => {
  const waits: Array<number> = []
  let drawn = 0
  let time = 0
  const world: World = {
    elapsed: () => time,
    sleep: (millis, signal) => new Promise((resolve, reject) => {
      waits.push(millis)
      setImmediate(() => signal.aborted ? reject(signal.reason) : resolve())
    }),
    draw: () => `c${++drawn}`
  }
  return { world, waits, pass: (millis: number) => { time += millis } }
}

/** A space that takes signals; `answers` come before that. */
export const ingress = (answers: Array<Channel.Taken> = [], isAdmitted: () => boolean = () => true) => {
  const taken: Array<Channel.InboundSignal> = []
  const offered: Array<ReadonlyArray<string>> = []
  const reports: Array<string> = []
  const waiters: Array<() => void> = []
  const tell = (): void => {
    for (const waiter of waiters.splice(0)) waiter()
  }
  const own: Channel.Ingress = {
    admits: async () => isAdmitted(),
    take: async (_, signals) => {
      offered.push(signals.map(({ id }) => id))
      const answer = answers.shift() ?? { taken: signals.length }
      taken.push(...signals.slice(0, answer.taken))
      tell()
      return answer
    },
    report: (topic, note) => {
      reports.push(`${topic} ${note}`)
      tell()
    }
  }
  /** Resolves once a condition holds, after a signal or a report. */
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => waiters.push(resolve))
  }
  return { ingress: own, taken, offered, reports, until }
}

/** A refusal of the first signal. */
export const refused = (then: "drop" | "wait" | "close", code: string, taken = 0): Channel.Taken =>
  ({ taken, refused: { then, error: Channel.fail(code, `refused with ${code}`) } })
