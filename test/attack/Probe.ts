/**
 * Latencies of a space that takes no part in an attack.
 *
 * @module
 */
import { fork } from "node:child_process"
import { setPriority } from "node:os"
import { join } from "node:path"
import { environment, node, root } from "../scripts/Host.ts"
import type { Ask, Sample, Told } from "./ProbeProcess.ts"

/** The samples of signals, by the windows in which they were measured. */
export type Windows = ReadonlyArray<ReadonlyArray<Sample>>

/** A latency of a share of all values: the smallest value that no smaller share of them reaches. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0

/** A figure of the windows at rest and under attack: the medians of theirs, which other work on the machine moves least. */
export interface Figure {
  readonly rest: number
  readonly under: number
  /** The difference between the quartiles of the windows at rest. A smaller one between other windows shows nothing. */
  readonly resolution: number
  readonly isSlow: boolean
}

/** The result of a comparison of windows under an attack with windows of the same length at rest. All are milliseconds. */
export interface Comparison {
  /** The p99 of the server's processor. A turn that holds up the others shows here. */
  readonly processor: Figure
  /** The p99 of the time. A lock or a pool that others use up shows here, while the processor is idle. */
  readonly time: Figure
  /** The longest time at rest and under attack. */
  readonly longestAtRest: number
  readonly longest: number
  /** The windows under attack in which a signal stalled. */
  readonly stalled: number
  readonly holds: boolean
}

/** The most that an attack may multiply a figure by. */
export const MOST = 3

/**
 * The least figures at rest that count, in milliseconds. One ordinary request of another party takes as long on a slow core, and a
 * thread that helps the main one gets its core later.
 */
const LEAST = { processor: 10, time: 20 }

/** The shortest time that counts as a stall, in milliseconds. */
const STALL = 500

/** Compares a figure. It may be three times that at rest, plus the resolution. */
const figure = (rest: Windows, under: Windows, name: keyof Sample): Figure => {
  const of = (window: ReadonlyArray<Sample>): number => quantile(window.map((sample) => sample[name]), 0.99)
  const alone = rest.map(of)
  const resolution = quantile(alone, 0.75) - quantile(alone, 0.25)
  const middle = { rest: quantile(alone, 0.5), under: quantile(under.map(of), 0.5) }
  return { ...middle, resolution, isSlow: middle.under > MOST * Math.max(LEAST[name], middle.rest) + resolution }
}

/** Compares windows. An attack stops no one if no figure is slow, and if no signal stalls. */
export const compare = (rest: Windows, under: Windows): Comparison => {
  const processor = figure(rest, under, "processor")
  const time = figure(rest, under, "time")
  const longestOf = (windows: Windows): ReadonlyArray<number> => windows.map((window) => Math.max(...window.map(({ time }) => time)))
  const [longestAtRest, longest] = [Math.max(...longestOf(rest)), Math.max(...longestOf(under))]
  const stalled = longestOf(under).filter((millis) => millis > MOST * longestAtRest + STALL).length
  return { processor, time, longestAtRest, longest, stalled, holds: !processor.isSlow && !time.isSlow && stalled === 0 }
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
  readonly measure: (millis: number) => Promise<ReadonlyArray<Sample>>
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
        child.once("message", ({ failure, samples }: Told) => {
          child.off("exit", gone)
          if (failure === undefined) resolve(samples)
          else reject(new Error(`a small signal of another space: ${failure}`))
        })
        child.send({ ...target, millis } satisfies Ask)
      }),
    end: () => child.disconnect()
  }
}
