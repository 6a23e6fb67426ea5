/**
 * The limits and the settings of a space. Each has a default.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Retention } from "../../persistence/Persistence.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import type { Rules } from "../../stage/Labels.ts"

/**
 * All limits of a space.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** The most signals from outside that wait for their capture or for another attempt. A further one is refused with `inbox/full`. */
  readonly inboxSignals: number
  /** Characters of such signals: path, target, payload, and a fixed amount for each. */
  readonly inboxBytes: number
  /**
   * The most signals from runs that wait for their capture, their time or another attempt, beside those that one beat
   * takes. A run over the limit leaves nothing and is retried with the code `backlog/full`. After its last attempt it
   * becomes a dead letter.
   */
  readonly backlogSignals: number
  /** Characters of such signals. */
  readonly backlogBytes: number
  /** Signals of one beat, including attempts and conflict losers. */
  readonly captureSignals: number
  /** Characters of signals in one beat, and characters of control input; one of each is always taken. */
  readonly captureBytes: number
  /** Beats in one flush. */
  readonly groupBeats: number
  /** Characters of journal text in one flush. */
  readonly groupBytes: number
  /** Host milliseconds that one group runs before its flush. */
  readonly groupMillis: number
  /** Turns of the host by which a group is delayed while its inbox grows. */
  readonly groupTurns: number
  /** Milliseconds that one flush may take. After them the space stops, and opens again in its durable state. */
  readonly flushMillis: number
  /** Attempts of a flush that a busy store refuses. After the last the space stops. */
  readonly flushAttempts: number
  /** Milliseconds before the second attempt of such a flush. Each further wait is twice as long. */
  readonly flushRetryMillis: number
  /** Groups that may wait behind a running flush. More are reported once, with the topic `persist.async`. */
  readonly flushGroups: number
  /** The longest chain of signals; the next signal becomes a dead letter. */
  readonly hops: number
  /** The most open flow instances, including those that end in the same beat. A further start is refused with `flow/full`. */
  readonly flowInstances: number
  /** The most open requests to the world. A run that makes a further one is retried with `reactor/full`. */
  readonly ioRequests: number
  /** The most beats between attempts, which double: 1, 2, 4 …. */
  readonly backoffBeats: number
  /**
   * Attempts of a handling that may time out; other failures are not counted. The limit is below that of other failures,
   * because the space waits for such a run.
   */
  readonly timeoutAttempts: number
  /** The most durable runs that wait. A run that would wait beside them is retried with `run/full`, and leaves nothing. */
  readonly waitingRuns: number
  /** Durable runs with their bodies in memory. Beyond it, the body that went on longest ago is remade from its log. */
  readonly residentRuns: number
  /** Characters of documents in memory. */
  readonly residentBytes: number
  /**
   * The retained finished records of each kind: rendezvous, instances, operations, diagnostics. Beyond it the oldest
   * expire. Each beat removes as many as it added, or a fixed number.
   */
  readonly finishedCount: number
  /**
   * The longest retention of a finished record, in milliseconds from the beat that ended it. An idle space removes them
   * with its next beats.
   */
  readonly finishedMillis: number
  /** Beats that one request replays; the next request continues after them. */
  readonly replayBeats: number
  /** Characters of documents that a replay holds in their historic state. A larger history cannot be replayed. */
  readonly pastBytes: number
  /** Milliseconds from the time limit of a stuck run to the end of the process, if the host has a watchdog. */
  readonly stuckMillis: number
  /** Milliseconds in which a process must stop once told to, if the host has a watchdog. */
  readonly stopMillis: number
  /**
   * Host milliseconds for loading one module. A module with a top level that does not settle by then is broken
   * (`module/broken`); all others continue.
   */
  readonly moduleMillis: number
  /**
   * Milliseconds by which the clock of the host may be behind that of a space, which then waits. Further behind, the space
   * goes on with an offset, and reports `clock/ahead`.
   */
  readonly behindMillis: number
  /** The default wait of a pull for a gate or a backoff, in milliseconds. */
  readonly pullMillis: number
}

/**
 * The settings of a space.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  /** The nominal length of a beat in milliseconds, by which waits in beats are timed. */
  readonly tempo: number
  /** `demand`: beats run while there is work. `manual`: only `step` runs one. */
  readonly pace: "demand" | "manual"
  /** Whether `/rt/beat/<N>` is shown. The journal is kept either way. */
  readonly ledgers: boolean
  /** `on-demand`: a signal to an unknown space creates it. */
  readonly create: "on-demand" | "explicit"
  /** The most open spaces. Beyond it, unused spaces close, the least recently used first. */
  readonly open: number
  /** Whether a new space boots. The configuration of a host always has it; only a kernel composed by hand can omit it. */
  readonly boot: boolean
  readonly retention: Partial<Retention>
  /** The rules for disclosure of confidential data. */
  readonly labels?: Rules | undefined
  /** Spaces with beats by hand only, until they are released. */
  readonly held?: ReadonlyArray<string> | undefined
  /**
   * A sleeping host opens a space whose only work is held after one to two of these periods, in milliseconds. Without it, the
   * next start of the host opens the space.
   */
  readonly heldMillis?: number | undefined
  /** The isolation of enzymes without a setting of their own. Default: `snapshot`. */
  readonly isolation?: Isolation | undefined
  readonly limits: Limits
}

/**
 * The default limits.
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
  flushMillis: 30_000,
  flushAttempts: 8,
  flushRetryMillis: 10,
  flushGroups: 4,
  hops: 10_000,
  flowInstances: 1_000_000,
  ioRequests: 10_000,
  backoffBeats: 64,
  timeoutAttempts: 2,
  waitingRuns: 100_000,
  residentRuns: 1024,
  residentBytes: 64 * 1_048_576,
  finishedCount: 100_000,
  finishedMillis: 30 * 86_400_000,
  replayBeats: 10_000,
  pastBytes: 256 * 1_048_576,
  stuckMillis: 4000,
  stopMillis: 8000,
  moduleMillis: 10_000,
  behindMillis: 5000,
  pullMillis: 10_000
}

/** The default limit on open spaces. */
export const OPEN = 1000

/**
 * The settings of each space of a kernel.
 *
 * @category references
 * @since 0.1.0
 */
export const KernelSettings = Context.Reference<Settings>("systole/kernel/KernelSettings", {
  defaultValue: () =>
    ({ tempo: 100, pace: "demand", ledgers: true, create: "explicit", open: OPEN, boot: true, retention: {}, limits: defaults })
})
