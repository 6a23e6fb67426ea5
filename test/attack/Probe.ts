/**
 * Latencies of a space that takes no part in an attack.
 *
 * @module
 */
import { fork } from "node:child_process"
import { join } from "node:path"
import { environment, node, root } from "../scripts/Host.ts"
import type { Ask, Told } from "./ProbeProcess.ts"

/** Latencies in milliseconds, by the windows in which they were measured. */
export type Windows = ReadonlyArray<ReadonlyArray<number>>

/** A latency of a share of all values: the smallest value that no smaller share of them reaches. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0

/** The latency that one of a hundred requests exceeds. */
export const p99 = (values: ReadonlyArray<number>): number => quantile(values, 0.99)

/** The result of a comparison of windows under an attack with windows of the same length at rest. */
export interface Comparison {
  /** The p99 at rest and under attack, in milliseconds. */
  readonly rest: number
  readonly under: number
  /** The difference between the p99 of the windows at rest: a smaller one between any two windows shows nothing. */
  readonly resolution: number
  readonly holds: boolean
}

/** The most that an attack may multiply the p99 by. */
export const MOST = 3

/** Compares windows. An attack holds up no one if the p99 under it is at most three times that at rest, and the resolution. */
export const compare = (rest: Windows, under: Windows): Comparison => {
  const alone = rest.map(p99)
  const resolution = Math.max(...alone) - Math.min(...alone)
  const both = { rest: p99(rest.flat()), under: p99(under.flat()) }
  return { ...both, resolution, holds: both.under <= MOST * both.rest + resolution }
}

/** A process that measures a server. */
export interface Probe {
  /** Measures for some milliseconds; fails if a signal is not handled. */
  readonly measure: (millis: number) => Promise<ReadonlyArray<number>>
  readonly end: () => void
}

/** Starts the process of a probe. */
export const make = (target: Omit<Ask, "millis">): Probe => {
  const child = fork(join(import.meta.dirname, "ProbeProcess.ts"), {
    execPath: node(),
    execArgv: ["--import", join(root, "test/scripts/source.mjs")],
    env: environment()
  })
  return {
    measure: (millis) =>
      new Promise((resolve, reject) => {
        const gone = (): void => reject(new Error("the probe ended"))
        child.once("exit", gone)
        child.once("message", ({ failure, millis }: Told) => {
          child.off("exit", gone)
          if (failure === undefined) resolve(millis)
          else reject(new Error(`a small signal of another space: ${failure}`))
        })
        child.send({ ...target, millis } satisfies Ask)
      }),
    end: () => child.disconnect()
  }
}
