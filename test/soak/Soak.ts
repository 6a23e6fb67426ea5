/**
 * A soak: a server of many spaces under a mixed load and all parts of the attack at a low rate, for as long as one wants. Its
 * figures have to stay flat, and after a restart each space is verified and replayed.
 *
 * @module
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { type Part, project, type Ready } from "../attack/Part.ts"
import * as Parts from "../attack/Parts.ts"
import { quantile } from "../attack/Probe.ts"
import { descriptors, memory, type Packed, scheduled, type Target } from "../attack/Targets.ts"
import { CountingServer } from "../crash/CountingServer.ts"
import * as Random from "../support/Random.ts"
import { Load } from "./Load.ts"
import * as Proof from "./Proof.ts"
import * as SoakProject from "./SoakProject.ts"
import * as Trend from "./Trend.ts"

/** The spaces of the load unless given, the callers, and the streams of a round. */
const SPACES = 50
const CALLERS = 4
const STREAMS = 20

/** The spaces with a control file. */
const AGENTS = 5

/** The pause of a caller between two requests, in milliseconds. */
const PAUSE = 40

/** The share of the rate of the attack. */
const RATE = 1 / 40

/** The rounds, and the shortest and longest of them in milliseconds. Each ends with a rest. */
const ROUNDS = 30
const [SHORTEST, LONGEST] = [4000, 120_000]

/** The rest after which an idle server has collected its garbage, in milliseconds; a soak with shorter rounds is not judged by trends. */
const REST = 8000
const JUDGED = 20_000

/** A sample at the end of a round. */
export interface Sample {
  readonly memory: number
  readonly descriptors: number
  readonly p50: number
  readonly p99: number
  /** The time that the server had to take for its work, as a multiple of the processor's: above 1, others used the cores, too. */
  readonly slowness: number
  /** The time of the processor for each request, in milliseconds. */
  readonly work: number
}

/** The result of a soak. */
export interface Result {
  readonly acknowledged: number
  readonly attempts: number
  readonly samples: ReadonlyArray<Sample>
  /** The trends, for a soak that is long enough. */
  readonly trends: ReadonlyArray<Trend.Growth>
  readonly proof: Proof.Tally
  readonly faults: ReadonlyArray<string>
}

/** The options of a soak. */
export interface Options {
  readonly packed: Packed
  readonly minutes: number
  readonly seed: number
  readonly spaces?: number
  readonly onSample?: (sample: Sample, acknowledged: number) => void
}

const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Lets work go on in rounds, with a rest after each. */
class Rounds {
  isOver = false
  private gate: Promise<void> = Promise.resolve()
  private open: () => void = () => {}

  close(): void {
    this.gate = new Promise((resolve) => this.open = resolve)
  }

  begin(): void {
    this.open()
  }

  end(): void {
    this.isOver = true
    this.open()
  }

  /** Whether all rounds are over; resolves at the next round during a rest. */
  readonly over = async (): Promise<boolean> => {
    await this.gate
    return this.isOver
  }
}

const trendsOf = (samples: ReadonlyArray<Sample>): ReadonlyArray<Trend.Growth> => {
  const series = (name: keyof Sample): Trend.Series => samples.map((sample) => sample[name])
  const own = (name: "p50" | "p99"): Trend.Series => samples.map((sample) => sample[name] / sample.slowness)
  return [
    { name: "memory at rest", unit: "MiB", values: series("memory"), least: 24, share: 0.1 },
    { name: "descriptors at rest", unit: "", values: series("descriptors"), least: 8, share: 0 },
    { name: "latency (p50) by the load of the machine", unit: "ms", values: own("p50"), least: 2, share: 0.5 },
    { name: "latency (p99) by the load of the machine", unit: "ms", values: own("p99"), least: 20, share: 1 },
    { name: "processor for a request", unit: "ms", values: series("work"), least: 1, share: 0.3 }
  ].map(Trend.judge)
}

interface Attacker {
  readonly part: Part
  readonly ready: Ready
}

const prepared = ({ packed, seed }: Options): Promise<ReadonlyArray<Attacker>> =>
  Promise.all(Parts.all.map(async (part) => {
    const folder = join(packed.folder, `ground-${part.name}`)
    await mkdir(folder)
    return { part, ready: await part.prepare({ packed, draw: Random.make(seed), folder }) }
  }))

const begin = async (target: Target, attackers: ReadonlyArray<Attacker>, names: ReadonlyArray<string>): Promise<void> => {
  for (const name of names) await target.ask(`/v1/spaces/${name}`, { method: "PUT" })
  for (const name of names.slice(0, AGENTS)) {
    const signal = { signal: "/signals/heartbeat/save", target: "/data/agent/files/heartbeat.md", payload: { text: SoakProject.schedule } }
    const headers = { "content-type": "application/json", prefer: "wait=30" }
    await target.ask(`/v1/spaces/${name}/signals`, { method: "POST", headers, body: JSON.stringify(signal) })
  }
  for (const { ready } of attackers) await ready.begin?.(target)
}

const isGone = ({ server: { process } }: Target): boolean => process.exitCode !== null || process.signalCode !== null

/** Runs the rounds, and takes a sample at the end of each. */
const soaked = async (target: Target, load: Load, { minutes, onSample, rounds }: Pick<Options, "minutes" | "onSample"> & {
  readonly rounds: Rounds
}): Promise<ReadonlyArray<Sample>> => {
  const samples: Array<Sample> = []
  const length = Math.min(LONGEST, Math.max(SHORTEST, minutes * 60_000 / ROUNDS))
  const { pid } = target.server.process
  for (const end = performance.now() + minutes * 60_000; performance.now() < end;) {
    rounds.begin()
    load.latencies = []
    const before = scheduled(pid)
    const streams = new AbortController()
    const followed = Array.from({ length: STREAMS }, () => load.follow(streams.signal))
    await wait(length)
    rounds.close()
    streams.abort()
    await Promise.all(followed)
    const after = scheduled(pid)
    await Parts.rested(target).catch((error: unknown) => void load.faults.add(String(error)))
    if (length >= JUDGED) await wait(REST)
    const [p50, p99] = [quantile(load.latencies, 0.5), quantile(load.latencies, 0.99)]
    const [ran, waited] = [after.ran - before.ran, after.waited - before.waited]
    const slowness = ran > 0 ? (ran + waited) / ran : 1
    const work = ran / Math.max(1, load.latencies.length)
    const sample = { memory: memory(pid), descriptors: descriptors(pid), p50, p99, slowness, work }
    samples.push(sample)
    onSample?.(sample, load.acknowledged)
    const fault = await target.check().then(() => undefined, String)
    if (fault !== undefined) load.faults.add(fault)
    if (isGone(target)) break
  }
  return samples
}

/** Works at the load and the attack until all rounds are over. Returns the attempts of the attack. */
const worked = async (target: Target, load: Load, { attackers, rounds }: {
  readonly attackers: ReadonlyArray<Attacker>
  readonly rounds: Rounds
}): Promise<number> => {
  const told = (failure: string): void => void load.faults.add(failure)
  const call = async (): Promise<void> => {
    for (; !await rounds.over(); await wait(PAUSE)) await load.one()
  }
  const attempts = attackers.map(({ part, ready }) =>
    Parts.trickle({ part, ready, target }, { isOver: rounds.over, rate: RATE, told }))
  await Promise.all(Array.from({ length: CALLERS }, call))
  return (await Promise.all(attempts)).reduce((sum, tried) => sum + tried, 0)
}

/** Waits for the end of all work, and makes the last checks of the parts, of which one ends the server. Returns the faults. */
const ended = async (target: Target, names: ReadonlyArray<string>, attackers: ReadonlyArray<Attacker>) => {
  const questions = new Proof.Questions(target)
  await Proof.quieted(questions, names, "end-of-load")
  const { faults } = questions
  const isLast = ({ part }: Attacker): boolean => part.name === "output"
  for (const { part, ready } of attackers.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))) {
    await ready.check?.(target).catch((error: unknown) => void faults.push(`${part.name}: ${String(error)}`))
  }
  return faults
}

/** Soaks a server, restarts it, and proves that each space is whole. */
export const run = async (options: Options): Promise<Result> => {
  const { minutes, onSample, packed, seed, spaces = SPACES } = options
  const partner = new CountingServer(Random.make(seed + 1))
  const attackers = await prepared(options)
  const setup = project("soak", [...attackers.map(({ ready }) => ready.ground), SoakProject.ground(await partner.listen())])
  const names = Array.from({ length: spaces }, (_, n) => `soak${n}`)
  let target = await packed.start(setup)
  try {
    await begin(target, attackers, names)
    const load = new Load(target, names, Random.make(seed))
    const rounds = new Rounds()
    const work = worked(target, load, { attackers, rounds })
    const samples = await soaked(target, load, { minutes, rounds, ...onSample === undefined ? {} : { onSample } })
      .finally(() => rounds.end())
    const attempts = await work
    const isKilled = isGone(target)
    if (!isKilled) {
      for (const fault of await ended(target, names, attackers)) load.faults.add(fault)
    }
    await target.server.end("SIGKILL")
    target = await packed.start(setup).catch((error: unknown) => {
      throw new Error([...load.faults, `the server does not start again: ${String(error)}`].join("\n"))
    })
    const questions = new Proof.Questions(target)
    await questions.look("the signals without an answer", () => load.resend(questions))
    await Proof.quieted(questions, names, "end-of-restart")
    const proof = await Proof.run(questions, { load, partner, isKilled })
    const trends = minutes * 60_000 / ROUNDS >= JUDGED ? trendsOf(samples) : []
    const grown = trends.filter(({ isFlat }) => !isFlat).map(({ name }) => `${name} grows`)
    const all = [...load.faults, ...grown, ...proof.faults]
    return { acknowledged: load.acknowledged, attempts, samples, trends, proof, faults: all }
  } finally {
    await target.server.end("SIGKILL")
    for (const { ready } of attackers) await ready.end?.()
    partner.close()
  }
}
