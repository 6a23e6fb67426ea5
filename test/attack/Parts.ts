/**
 * The parts of the attack, each beside a measured space that takes no part in it.
 *
 * @module
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as Random from "../support/Random.ts"
import { bystander, type Part, project, type Ready } from "./Part.ts"
import { access } from "./parts/Access.ts"
import { folders } from "./parts/Folders.ts"
import { links } from "./parts/Links.ts"
import { lists } from "./parts/Lists.ts"
import { output } from "./parts/Output.ts"
import { partners } from "./parts/Partners.ts"
import { texts } from "./parts/Texts.ts"
import { tools } from "./parts/Tools.ts"
import * as Probe from "./Probe.ts"
import type { Sample } from "./ProbeProcess.ts"
import { memory, type Packed, PATIENCE, processor, type Target, tokens } from "./Targets.ts"

/** All parts. */
export const all: ReadonlyArray<Part> = [output, lists, partners, folders, links, texts, tools, access]

/** The length of a window, in milliseconds. */
const WINDOW = 500

/**
 * The fewest and the most pairs of windows, one at rest and one under attack. A part that does not hold is measured on: a defect
 * shows in each window, and other work of the machine in some.
 */
const PAIRS = 3
const MOST_PAIRS = 15

/** The share of a core that a server at rest may use, and the time over which it is taken, in milliseconds. */
const REST = 0.2
const LOOK = 100

/** The result of a part. */
export interface Outcome {
  readonly name: string
  readonly holds: string
  readonly tried: number
  readonly millis: number
  /** The memory of the server afterwards, in MiB. */
  readonly memory: number
  /** The latencies of the other space; `undefined` if the part ended before they were measured. */
  readonly latency: Probe.Comparison | undefined
  /** The broken property, or `undefined`. */
  readonly failure: string | undefined
}

const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** A part that is ready, and the server that it attacks. */
export interface Attacked {
  readonly part: Part
  readonly ready: Ready
  readonly target: Target
}

/**
 * Makes attempts at the rate of a part from a number on, until told to stop. The promise of their number is fulfilled when all
 * are over.
 */
const attempts = async ({ part, ready, target }: Attacked, first: number, isOver: () => boolean): Promise<number> => {
  const begun: Array<Promise<void>> = []
  for (let due = performance.now(); !isOver(); due += part.everyMs) {
    await wait(Math.max(0, due - performance.now()))
    const attempt = ready.attempt(target, first + begun.length)
    attempt.catch(() => {})
    begun.push(attempt)
  }
  await Promise.all(begun)
  return begun.length
}

/** Makes attempts at a share of the rate of a part, as long as told. Returns their number; failures are told. */
export const trickle = async (attacked: Attacked, { isOver, rate, told }: {
  /** The share of the rate. */
  readonly rate: number
  /** Whether to stop. It resolves late while no attempt may begin. */
  readonly isOver: () => Promise<boolean>
  readonly told: (failure: string) => void
}): Promise<number> => {
  const { part, ready, target } = attacked
  let tried = 0
  for (; !await isOver(); await wait(part.everyMs / rate)) {
    await ready.attempt(target, tried++).catch((error: unknown) => told(`${part.name}: ${String(error)}`))
  }
  return tried
}

/** Waits until a server rests. One that works on for nobody has not ended with its clients. */
export const rested = async ({ server }: Target): Promise<void> => {
  const { pid } = server.process
  for (const end = performance.now() + PATIENCE; performance.now() < end;) {
    const before = processor(pid)
    await wait(LOOK)
    if (processor(pid) - before <= REST * LOOK) return
  }
  throw new Error(`the server works on for ${PATIENCE} ms after the attack`)
}

/** Measures the bystander in pairs of windows, until the time is over and the part holds. */
const measured = async (attacked: Attacked, until: () => boolean) => {
  const { target } = attacked
  const { pid } = target.server.process
  const probe = Probe.make({ url: target.server.url, path: bystander, token: tokens.operator, pid })
  const rest: Array<ReadonlyArray<Sample>> = []
  const under: Array<ReadonlyArray<Sample>> = []
  const isUnclear = (): boolean => rest.length < MOST_PAIRS && !Probe.compare(rest, under).holds
  let tried = 0
  try {
    // The first signals of a process are slow, attacked or not.
    await probe.measure(WINDOW)
    while (rest.length < PAIRS || !until() || isUnclear()) {
      rest.push(await probe.measure(WINDOW))
      let isOver = false
      const attempted = attempts(attacked, tried, () => isOver)
      attempted.catch(() => {})
      under.push(await probe.measure(WINDOW).finally(() => isOver = true))
      tried += await attempted
      await rested(target)
    }
  } finally {
    probe.end()
  }
  return { tried, latency: Probe.compare(rest, under) }
}

/** The broken property of the latencies. One stall in the most pairs is no defect, since a defect comes again. */
const broken = ({ longest, longestAtRest, processor, stalled, time }: Probe.Comparison): string | undefined => {
  const told = ({ resolution, rest, under }: Probe.Figure): string =>
    `${under.toFixed(1)} ms; at rest ${rest.toFixed(1)} ms ± ${resolution.toFixed(1)} ms`
  if (processor.isSlow) return `while a small signal of another space is on its way, the server runs for (p99) ${told(processor)}`
  if (time.isSlow) return `a small signal of another space takes (p99) ${told(time)}`
  if (stalled < 2) return undefined
  return `a small signal of another space takes ${longest.toFixed(1)} ms at most; at rest ${longestAtRest.toFixed(1)} ms`
}

/** The place and the time of a part. */
export interface Plan {
  readonly packed: Packed
  readonly seed: number
  readonly until: () => boolean
}

/** Attacks a server of its own with one part. */
export const run = async (part: Part, { packed, seed, until }: Plan): Promise<Outcome> => {
  const began = performance.now()
  const folder = join(packed.folder, `ground-${part.name}`)
  await mkdir(folder)
  const ready = await part.prepare({ packed, draw: Random.make(seed), folder })
  let found: { readonly tried: number; readonly latency?: Probe.Comparison } = { tried: 0 }
  let failure: string | undefined
  let used = 0
  try {
    const target = await packed.start(project(part.name, [ready.ground]))
    Probe.prefer(target.server.process.pid)
    try {
      await ready.begin?.(target)
      found = await measured({ part, ready, target }, until)
      await target.check()
      used = memory(target.server.process.pid)
      await ready.check?.(target)
      await ready.beside?.(target)
      failure = found.latency === undefined ? undefined : broken(found.latency)
    } catch (error) {
      // A server that has ended tells why its clients fail.
      const gone = await target.check().then(() => "", (reason: unknown) => `; ${String(reason)}`)
      throw new Error(`${error instanceof Error ? error.message : String(error)}${gone}`)
    } finally {
      await target.server.end("SIGKILL")
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  } finally {
    await ready.end?.()
  }
  const { latency, tried } = found
  return { name: part.name, holds: part.holds, tried, millis: performance.now() - began, memory: used, latency, failure }
}
