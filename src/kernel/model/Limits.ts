/**
 * The limits and the settings of a space. Each has a default.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Retention } from "../../persistence/Persistence.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import type { Rules } from "../../stage/Labels.ts"

/** One limit. */
interface Limit {
  readonly default: number
  /**
   * The upper bound in an object of Cloudflare, which has 128 MB of memory for its code and all objects beside it, and rows of at
   * most 2 MB. `Infinity`: the limit is not applied there.
   */
  readonly object?: number
}

const MIB = 1_048_576

/**
 * All limits of a space. The type of limits, the schema of the configuration, the bounds of the hosts and the reference follow from
 * this table: a limit is one more entry, whose docstring is its text in the reference.
 *
 * @category references
 * @since 0.2.0
 */
export const table = {
  /** The most signals from outside that wait for their capture or for another attempt. A further one is refused with `inbox/full`. */
  inboxSignals: { default: 100_000 },
  /** Characters of such signals: path, target, payload, and a fixed amount for each. */
  inboxBytes: { default: 64 * MIB, object: 16 * MIB },
  /**
   * The most signals from runs that wait for their capture, their time or another attempt, beside those that one beat
   * takes. A run over the limit leaves nothing and is retried with the code `backlog/full`. After its last attempt it
   * becomes a dead letter.
   */
  backlogSignals: { default: 1_000_000 },
  /** Characters of these signals. */
  backlogBytes: { default: 256 * MIB, object: 32 * MIB },
  /** Signals of one beat, including attempts and conflict losers. */
  captureSignals: { default: 1024 },
  /** Characters of signals in one beat, and characters of control input; one of each is always taken. */
  captureBytes: { default: MIB, object: MIB },
  /** Beats in one flush. */
  groupBeats: { default: 64 },
  /** Characters of journal text in one flush. */
  groupBytes: { default: MIB, object: MIB },
  /** Host milliseconds that one group runs before its flush. The clock of an object stands still within a turn, so none counts there. */
  groupMillis: { default: 5, object: Infinity },
  /** Turns of the host by which a group is delayed while its inbox grows. */
  groupTurns: { default: 3 },
  /** Milliseconds that one flush may take. After them the space stops, and opens again in its durable state. */
  flushMillis: { default: 30_000 },
  /** Attempts of a flush that a busy store refuses. After the last the space stops. */
  flushAttempts: { default: 8 },
  /** Milliseconds before the second attempt of such a flush. Each further wait is twice as long. */
  flushRetryMillis: { default: 10 },
  /** Groups that may wait behind a running flush. More are reported once, with the topic `persist.async`. */
  flushGroups: { default: 4 },
  /** The longest chain of signals; the next signal becomes a dead letter. */
  hops: { default: 10_000 },
  /** The most open flow instances, including those that end in the same beat. A further start is refused with `flow/full`. */
  flowInstances: { default: 1_000_000 },
  /** The most open requests to the world. A run that makes a further one is retried with `reactor/full`. */
  ioRequests: { default: 10_000 },
  /** The most beats between attempts, which double: 1, 2, 4 …. */
  backoffBeats: { default: 64 },
  /** The most beats that a run may ask to wait before its next attempt. */
  retryBeats: { default: 1_000_000 },
  /** The longest wait that a run may ask for before its next attempt, in milliseconds. */
  retryMillis: { default: 366 * 86_400_000 },
  /** Milliseconds after its due time for which the plan of a schedule is kept without its enzyme. */
  scheduleMillis: { default: 7 * 86_400_000 },
  /**
   * Attempts of a handling that may time out; other failures are not counted. The limit is below that of other failures,
   * because the space waits for such a run.
   */
  timeoutAttempts: { default: 2 },
  /** The most durable runs that wait. A run that would wait beside them is retried with `run/full`, and leaves nothing. */
  waitingRuns: { default: 100_000 },
  /** Durable runs with their bodies in memory. Beyond it, the body that went on longest ago is remade from its log. */
  residentRuns: { default: 1024 },
  /** Characters of documents in memory. */
  residentBytes: { default: 64 * MIB, object: 24 * MIB },
  /**
   * The retained finished records of each kind: rendezvous, instances, operations, diagnostics. Beyond it the oldest
   * expire. Each beat removes as many as it added, or a fixed number.
   */
  finishedCount: { default: 100_000 },
  /**
   * The longest retention of a finished record, in milliseconds from the beat that ended it. An idle space removes them
   * with its next beats.
   */
  finishedMillis: { default: 30 * 86_400_000 },
  /** Beats that one request replays; the next request continues after them. */
  replayBeats: { default: 10_000 },
  /** Characters of documents that a replay holds in their historic state. A larger history cannot be replayed. */
  pastBytes: { default: 256 * MIB, object: 32 * MIB },
  /** Milliseconds from the time limit of a stuck run to the end of the process, if the host has a watchdog. */
  stuckMillis: { default: 4000 },
  /** Milliseconds in which a process must stop once told to, if the host has a watchdog. */
  stopMillis: { default: 8000 },
  /**
   * Host milliseconds for loading one module. A module with a top level that does not settle by then is broken
   * (`module/broken`); all others continue.
   */
  moduleMillis: { default: 10_000 },
  /** Host milliseconds for building the services of one plugin. Services that are not built by then are refused (`service/timeout`). */
  serviceMillis: { default: 10_000 },
  /**
   * The reloads of a process of `systole dev`, which then starts again: no host unloads the modules that were replaced. A process
   * without a supervisor goes on.
   */
  reloads: { default: 1000 },
  /**
   * Milliseconds by which the clock of the host may be behind that of a space, which then waits. Further behind, the space
   * goes on with an offset, and reports `clock/ahead`.
   */
  behindMillis: { default: 5000 },
  /**
   * Milliseconds that a command to a held space waits for its release or a step. Then it is withdrawn, and refused with
   * `space/held`.
   */
  commandMillis: { default: 5000 },
  /**
   * Exports in progress over HTTP at one host, and as many imports. A further one is refused with `archive/full`. An export counts until
   * its last part was taken or 10 minutes passed without a request, and an import while a part of it comes.
   */
  archiveSessions: { default: 16 },
  /** The default wait of a pull for a gate or a backoff, in milliseconds. */
  pullMillis: { default: 10_000 },
  /** The duration of the session of a browser, in milliseconds. One that was begun keeps its own. */
  sessionMillis: { default: 43_200_000 }
} as const satisfies Readonly<Record<string, Limit>>

/** A name of the table. */
export type LimitName = keyof typeof table

/**
 * The values of all limits.
 *
 * @category models
 * @since 0.1.0
 */
export type Limits = { readonly [Name in LimitName]: number }

/**
 * A value for each limit.
 *
 * @category constructors
 * @since 0.2.0
 */
export const each = <A>(make: (limit: Limit, name: LimitName) => A): { readonly [Name in LimitName]: A } =>
  Object.fromEntries(names.map((name) => [name, make(table[name], name)])) as { readonly [Name in LimitName]: A }

const names = Object.keys(table) as ReadonlyArray<LimitName>

/**
 * The default limits.
 *
 * @category references
 * @since 0.1.0
 */
export const defaults: Limits = each((limit) => limit.default)

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
  /** An unused space closes after one to two of these times, in milliseconds. Without it, spaces stay open up to `open`. */
  readonly idleMillis?: number | undefined
  /** Whether a new space boots. The configuration of a host always has it; only a kernel composed by hand can omit it. */
  readonly boot: boolean
  readonly retention: Partial<Retention>
  /** The beginnings of signals that readers must not send, beside those of the runtime. */
  readonly reserved?: ReadonlyArray<string> | undefined
  /** The rules for disclosure of confidential data. */
  readonly labels?: Rules | undefined
  /** Spaces with beats by hand only, until they are released. */
  readonly held?: ReadonlyArray<string> | undefined
  /**
   * A sleeping host opens a space whose only work is held after one to two of these periods, in milliseconds. Without it, the
   * next start of the host opens the space.
   */
  readonly heldMillis?: number | undefined
  /** The space of schedules that name none. Default: `home`. */
  readonly first?: string | undefined
  /** The isolation of enzymes without a setting of their own. Default: `snapshot`. */
  readonly isolation?: Isolation | undefined
  readonly limits: Limits
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
