/**
 * The limits of a space, and how it beats. Each has a default and can be set.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Retention } from "../../persistence/Persistence.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import type { Rules } from "../../stage/Labels.ts"

/**
 * Everything that is bounded, and by how much.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Signals from outside that may wait for their capture or for another attempt. A further one is refused with `inbox/full`. */
  readonly inboxSignals: number
  /** Characters of such signals: path, target, payload, and a fixed amount for each. */
  readonly inboxBytes: number
  /**
   * Signals from runs that may wait for their capture, their time or another attempt, beside those that one beat takes.
   * A run that would send more leaves nothing and is tried again later, with the code `backlog/full`; its attempts
   * spent, it goes to the dead letters.
   */
  readonly backlogSignals: number
  /** Characters of such signals. */
  readonly backlogBytes: number
  /** Signals of one beat, attempts and losers of conflicts included. */
  readonly captureSignals: number
  /** Characters of signals in one beat, and characters of control input; one of each is always taken. */
  readonly captureBytes: number
  /** Beats that one flush carries. */
  readonly groupBeats: number
  /** Characters of journal text that one flush carries. */
  readonly groupBytes: number
  /** Host milliseconds that one group runs before it is flushed. */
  readonly groupMillis: number
  /** Turns of the host that a group is put off for while its inbox grows. */
  readonly groupTurns: number
  /** How far a chain of signals reaches before the next goes to the dead letters. */
  readonly hops: number
  /** Instances of flows that may be under way, those counted that end in the same beat. Starts of a further one are refused with `flow/full`. */
  readonly flowInstances: number
  /** Beats from one attempt to the next: 1, 2, 4 … up to this. */
  readonly backoffBeats: number
  /** Attempts of a handling that may time out, those that fail in other ways not counted. The space waits for such a run, so they are fewer than those of a run that fails by itself. */
  readonly timeoutAttempts: number
  /** Characters of documents that are kept in memory. */
  readonly residentBytes: number
  /** Rendezvous and instances that are over, operations that are closed and facts that went wrong: how many of each are kept. Beyond it the oldest go, in each beat so many as it made, or a bounded number. */
  readonly finishedCount: number
  /** How long they are kept at most, in milliseconds from the beat that ended them; those of a space that rests go with its next beats. */
  readonly finishedMillis: number
  /** Beats that one request runs again; where it ends, the next one goes on. */
  readonly replayBeats: number
  /** Characters of documents that a look back holds as they were. What takes more cannot be run again. */
  readonly pastBytes: number
  /** Milliseconds from the limit of a run that never returns to the end of the process, where the host has a watchdog. */
  readonly stuckMillis: number
  /** Milliseconds that a process may take to stop once it is told to, whatever runs, where the host has a watchdog. */
  readonly stopMillis: number
  /** Host milliseconds that the load of one module may take. One whose top level does not settle by then is broken (`module/broken`), and all else goes on without it. */
  readonly moduleMillis: number
  /** How long a pull waits for what a gate or a backoff holds back, unless its caller says, in milliseconds. */
  readonly pullMillis: number
}

/**
 * How a space beats.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  /** The nominal length of a beat in milliseconds, by which waits in beats are timed. */
  readonly tempo: number
  /** `demand`: beats run while there is something to do. `manual`: only `step` runs one. */
  readonly pace: "demand" | "manual"
  /** Whether `/rt/beat/<N>` is shown. The journal is kept either way. */
  readonly ledgers: boolean
  /** `on-demand`: a signal to an unknown space creates it. */
  readonly create: "on-demand" | "explicit"
  /** How many spaces are open at once; beyond it those close that are not in use, the one whose last use is the longest ago first. */
  readonly open: number
  /** Whether a new space boots, which no configuration of a host can do without; a kernel that is put together by hand can. */
  readonly boot: boolean
  readonly retention: Partial<Retention>
  /** Who may learn what, where anything is confidential. */
  readonly labels?: Rules | undefined
  /** Spaces whose beats run by hand alone until they are released. */
  readonly held?: ReadonlyArray<string> | undefined
  /** The isolation of enzymes that do not say. Default: `snapshot`. */
  readonly isolation?: Isolation | undefined
  readonly limits: Limits
}

/**
 * The limits unless the configuration says otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const defaults: Limits = {
  inboxSignals: 100_000,
  inboxBytes: 64 * 1_048_576,
  backlogSignals: 1_000_000,
  backlogBytes: 256 * 1_048_576,
  captureSignals: 1024,
  captureBytes: 1_048_576,
  groupBeats: 64,
  groupBytes: 1_048_576,
  groupMillis: 5,
  groupTurns: 3,
  hops: 10_000,
  flowInstances: 1_000_000,
  backoffBeats: 64,
  timeoutAttempts: 2,
  residentBytes: 64 * 1_048_576,
  finishedCount: 100_000,
  finishedMillis: 30 * 86_400_000,
  replayBeats: 10_000,
  pastBytes: 256 * 1_048_576,
  stuckMillis: 4000,
  stopMillis: 8000,
  moduleMillis: 10_000,
  pullMillis: 10_000
}

/** How many spaces are open at once unless the configuration says otherwise. */
export const OPEN = 1000

/**
 * How each space of a kernel beats.
 *
 * @category references
 * @since 0.1.0
 */
export const KernelSettings = Context.Reference<Settings>("systole/kernel/KernelSettings", {
  defaultValue: () => ({ tempo: 100, pace: "demand", ledgers: true, create: "explicit", open: OPEN, boot: true, retention: {}, limits: defaults })
})
