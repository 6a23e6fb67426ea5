/**
 * Latencies of a space that takes no part in an attack.
 *
 * @module
 */
import { fork } from "node:child_process"
import { setPriority } from "node:os"
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

/** The result of a comparison of windows under an attack with windows of the same length at rest. All are milliseconds. */
export interface Comparison {
  /** The p99 at rest and under attack: the median of those of the windows, which other work on the machine moves least. */
  readonly rest: number
  readonly under: number
  /** The difference between the quartiles of the p99 at rest. A smaller one between other windows shows nothing. */
  readonly resolution: number
  /** The longest latency at rest and under attack. */
  readonly longestAtRest: number
  readonly longest: number
  readonly holds: boolean
}

/** The most that an attack may multiply a latency by. */
export const MOST = 3

/** The least p99 at rest that counts, in milliseconds. One ordinary request of another party takes as long on a slow core. */
const LEAST = 10

/** The shortest time for which one latency counts as a stall, in milliseconds. */
const STALL = 500

/**
 * Compares windows. An attack stops no one if the p99 under it is at most three times that at rest, plus the resolution, and if no
 * signal stalls.
 */
export const compare = (rest: Windows, under: Windows): Comparison => {
  const alone = rest.map(p99)
  const resolution = quantile(alone, 0.75) - quantile(alone, 0.25)
  const middle = { rest: quantile(alone, 0.5), under: quantile(under.map(p99), 0.5) }
  const [longestAtRest, longest] = [Math.max(...rest.flat()), Math.max(...under.flat())]
  const isSlow = middle.under > MOST * Math.max(LEAST, middle.rest) + resolution
  const isStalled = longest > MOST * longestAtRest + STALL
  return { ...middle, resolution, longestAtRest, longest, holds: !isSlow && !isStalled }
}

/** The priority of the measured processes. */
const PRIORITY = -10

/** Lets other work of the machine give way to a process, where the host allows it. */
export const prefer = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY)
  } catch {
    // Only root may: then the other work shows in the windows at rest, too.
  }
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
  prefer(child.pid)
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
