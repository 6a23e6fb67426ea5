/**
 * A foreign server behind a channel: it answers as the seed says, and keeps each payment under its key.
 *
 * @module
 */
import { Channel } from "systole"
import * as Random from "../support/Random.ts"
import type { WorldClock } from "./WorldClock.ts"

/** The ways in which the server takes an attempt badly. */
export const faults = ["is slow", "fails", "is busy", "hangs", "answers late"] as const
export type Fault = typeof faults[number]

/** An attempt that the server saw. */
export interface Attempt {
  readonly space: string
  readonly rid: string
  readonly key: string
  readonly payload: string
  readonly at: number
}

/** How a part of the world tells what happens in it. */
export interface Tell {
  /** Counts a thing of a kind. */
  readonly count: (kind: string) => void
  /** Tells of a contradiction. */
  readonly wrong: (text: string) => void
}

/** The world of a part to which spaces send. A detached one sends nothing. */
export interface Outgoing extends Tell {
  readonly isDetached: (space: string) => boolean
}

/** The world as the server sees it. */
interface Setting extends Outgoing {
  /** Whether a space goes on with the requests of another one. */
  readonly isCopied: (space: string) => boolean
  readonly seed: number
  /** The most jobs of a host at a time. */
  readonly jobs: number
  /** The ways in which attempts are taken badly. */
  readonly faults: ReadonlyArray<Fault>
  /** Whether a space may begin no attempt. */
  readonly isGated: (space: string) => boolean
}

/** The answers to an attempt. */
interface Answers {
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/** The server of a world. It outlives all hosts. */
export class Bank {
  readonly attempts: Array<Attempt> = []
  /** Attempts that began in a gated space. */
  readonly early: Array<Attempt> = []
  /** The done payments, by key. */
  readonly effects = new Map<string, string>()
  /** Whether the server answers each attempt at once, because the faults are over. */
  isWell = false
  private readonly clock: WorldClock
  private readonly random: Random.Random
  private readonly setting: Setting
  private readonly manners: ReadonlyArray<Fault | "answers">
  /** Whether each job ends by itself or with its abort. */
  private readonly isPrompt: boolean

  constructor(clock: WorldClock, setting: Setting) {
    this.clock = clock
    this.random = Random.make(setting.seed)
    this.setting = setting
    this.manners = ["answers", "answers", ...setting.faults]
    this.isPrompt = !setting.faults.includes("hangs") && !setting.faults.includes("answers late")
  }

  /** The channel as one life of a host has it. `lives` does what that life does, unless it is over: a dead one begins no attempt. */
  channel(lives: (act: () => void) => void): Channel.Channel {
    return {
      id: "bank",
      provider: "simulated",
      hosts: ["node", "deno", "bun", "workers"],
      opcodes: { pay: { repeatable: true } },
      jobs: this.setting.jobs,
      abortMillis: 1000,
      execute: (job) => new Promise((resolve, reject) => lives(() => this.take(job, {
        done: () => lives(() => resolve({ value: job.key })),
        failed: (error) => lives(() => reject(error))
      })))
    }
  }

  private take(job: Channel.Job, { done, failed }: Answers): void {
    const { key, rid, signal, space } = job
    const before = this.attempts.filter((attempt) => attempt.space === space && attempt.rid === rid).length
    // A job that ignores its abort takes the room of others, whose attempts fail then without beginning.
    if (this.isPrompt && job.attempt > before + 1 && !this.setting.isCopied(space)) {
      this.setting.wrong(`request ${rid} begins its attempt ${job.attempt}, and ${before} began before it`)
    }
    const attempt = { space, rid, key, payload: String(job.payload), at: this.clock.elapsed }
    this.attempts.push(attempt)
    if (this.setting.isDetached(space)) this.setting.wrong(`${space} is detached, and request ${rid} begins`)
    if (this.setting.isGated(space)) this.early.push(attempt)
    const manner = this.isWell ? "answers" : Random.pick(this.random, this.manners)
    this.setting.count(`bank ${manner}`)
    const stop = (): void => failed(Channel.fail("io/aborted", `request ${rid}: the job was given up`))
    if (manner !== "hangs" && manner !== "answers late") signal.addEventListener("abort", stop)
    if (manner === "hangs") return
    if (manner === "fails") return failed(Channel.fail("bank/down", `request ${rid}: the bank is down`, { retryable: true }))
    if (manner === "is busy") {
      return failed(Channel.fail("bank/busy", `request ${rid}: later`, { retryable: true, retryAfterMs: this.random(2000) }))
    }
    this.effect(job)
    if (manner === "answers") return done()
    this.clock.at(this.clock.elapsed + this.random(5000), done)
  }

  /** Makes the payment of an attempt, once for each key. */
  private effect({ key, payload, rid }: Channel.Job): void {
    const text = String(payload)
    const known = this.effects.get(key)
    if ((known ?? text) !== text) this.setting.wrong(`request ${rid} has a key of another one: ${key} was ${known}, and now ${text}`)
    this.effects.set(key, text)
  }
}
