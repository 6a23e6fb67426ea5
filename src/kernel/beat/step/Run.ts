/**
 * Runs: one enzyme, one signal, one transaction.
 *
 * A run returns a value, a promise or an Effect. A plain value starts no fiber.
 * Each failure of a run becomes an outcome with a tag and a code.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import * as Address from "../../../cell/Address.ts"
import * as Codec from "../../../cell/Document.ts"
import * as Pattern from "../../../cell/Pattern.ts"
import { CANCELLED, CODE_MISSING, FOREIGN, FULL, OWN, STALE, TAKEN_BACK, UNDO_LOST } from "../../../durable/RunCode.ts"
import * as Dossier from "../../../operation/Dossier.ts"
import { type Event, taken as takenBy } from "../../../registry/Enzyme.ts"
import { isTagged } from "../../../registry/Outcome.ts"
import * as PayloadSchema from "../../../registry/PayloadSchema.ts"
import type { Entry } from "../../../registry/Registry.ts"
import { inRun } from "../../../registry/Services.ts"
import type { Draft } from "../../../stage/Draft.ts"
import { checkPayload } from "../../../stage/OutgoingSignal.ts"
import * as Semantics from "../../../stage/Semantics.ts"
import { TransactionRefused } from "../../../stage/TransactionRefused.ts"
import type { RunHost } from "../../watchdog/RunHost.ts"
import { GATED } from "../../derived/DerivationPort.ts"
import { failure } from "../../model/Failure.ts"
import { type RunFailure, type Handling, isMerged, type Outcome } from "../../model/InFlight.ts"
import { STUCK } from "../../watchdog/Stuck.ts"

/**
 * Runs a handling. The result is a promise only if the run is asynchronous.
 */
export const run = (handling: Handling, draft: Draft, host: RunHost): Outcome | Promise<Outcome> => {
  const outcome = attempt(handling, { draft, host, entry: handling.entry! })
  return outcome instanceof Promise ? outcome.then((outcome) => admit(handling, draft, outcome)) : admit(handling, draft, outcome)
}

/** The code of a run that exceeded its time limit. */
export const TIMEOUT = "run/timeout"

/** The codes of outcomes that depend on the host: run times, endless runs, missing modules, full limits, and closed gates of nodes. */
const HOSTS: ReadonlySet<string> = new Set([TIMEOUT, FOREIGN, FULL, CODE_MISSING, "backlog/full", GATED, STUCK])

/** The codes by which a beat, a replay or an operator decides. An error of a body that names one has none. */
const RESERVED: ReadonlySet<string> = new Set([
  ...HOSTS, CANCELLED, STALE, TAKEN_BACK, UNDO_LOST,
  "beat/aborted", "runtime/accident", "signal/storm", "space/stopped", "store/damaged", "store/trouble"
])

/** The code of an error without one. */
const FAILED = "run/failed"

/** The tag of a run that sends more than the backlog admits. */
const BACKLOG_FULL = "BacklogFull"

/**
 * Whether the host decided the outcome with this code and tag. A replay copies such an outcome and does not run the handling.
 */
export const isHosts = ({ code, tag }: { readonly code: string; readonly tag: string }): boolean =>
  HOSTS.has(code) || (code === UNDO_LOST && tag === BACKLOG_FULL)

/**
 * Updates the cells that an enzyme declares in `reads`. Returns the outcome of the handling if `reads` fails.
 */
export const prefetch = (handling: Handling, draft: Draft, host: RunHost): Outcome | undefined => {
  const entry = handling.entry!
  // A later segment may belong to an earlier module, and its reads update what they need.
  if (handling.segment > 0) return undefined
  const { reads } = entry.enzyme
  if (typeof reads !== "function" && reads.length === 0) return undefined
  try {
    host.scope.inside(() => {
      const addresses = typeof reads === "function" ? reads(toEvent(handling, draft)) : reads
      for (const address of addresses) draft.visible(Address.parse(address).key)
    })
    return undefined
  } catch (error) {
    return failureOf(draft, error)
  }
}

/** Checks the backlog limits of the space. A run that sends more than they admit is retried. */
export const admit = ({ flight }: Handling, draft: Draft, outcome: Outcome): Outcome => {
  if (!isMerged(outcome) || draft.emissions.length === 0) return outcome
  const limit = flight.backlog?.admit(draft.emissions)
  if (limit === undefined) return outcome
  const count = draft.emissions.length
  const message =
    `The run sends ${count} signals, and with what waits in the space they are over the limit of ${limit}. Send fewer, or raise the limit`
  const full = { kind: "retry", tag: BACKLOG_FULL, code: "backlog/full", message } as const
  return outcome.kind === "dead" ? { ...full, undo: "waits" } : full
}

const attempt = (handling: Handling, context: RunContext): Outcome | Promise<Outcome> => {
  const { draft } = context
  try {
    const result = start(handling, context)
    if (typeof result !== "object" || result === null) return conclude(draft, result)
    if (Effect.isEffect(result)) return runEffect(result as Effect.Effect<unknown, unknown>, context)
    if (typeof (result as PromiseLike<unknown>).then === "function") return limited(result as PromiseLike<unknown>, context)
    return conclude(draft, result)
  } catch (error) {
    return failureOf(draft, error)
  }
}

/** The synchronous part of a run, which begins with the schema of its payload. */
const start = (handling: Handling, { draft, entry, host }: RunContext): unknown =>
  host.scope.inside(() => {
    const event = toEvent(handling, draft)
    return inRun(entry.enzyme.run(draft, event), draft, event)
  })

/** The enzyme, the transaction and the host of a run. */
interface RunContext {
  readonly entry: Entry
  readonly draft: Draft
  readonly host: RunHost
}

/**
 * The event of a handling, as its enzyme sees it; without a draft, it names no pipeline.
 *
 * @throws InvalidPayload, InvalidSignal
 */
export const toEvent = (
  { attempt, entry: taker, flight: { signal } }: Handling,
  draft?: Draft
): Event => {
  const entry = taker!
  const payload = Codec.read(signal.payload, [])
  const { payload: schema } = entry.enzyme
  const taken = takenBy(entry.enzyme)
  if (taken !== undefined) checkPayload(taken, payload)
  return {
    id: signal.id,
    signal: signal.signal,
    target: signal.target,
    payload: schema === undefined ? payload : PayloadSchema.decode(schema, payload),
    params: hasCaptures(entry.pattern) && signal.signal !== undefined
      ? Pattern.params(entry.pattern, signal.signal.slice(1).split("/"), entry.mode) ?? none
      : none,
    attempt,
    ...(signal.awaits === undefined || draft === undefined ? {} : { pipeline: Dossier.pipelineOf(draft, signal.target!) })
  }
}

const none: Readonly<Record<string, string>> = Object.freeze({})
const hasCaptures = (pattern: Pattern.Pattern): boolean => pattern.text.includes("/:")

/** Starts an Effect. A synchronous one is over on return. */
const runEffect = (effect: Effect.Effect<unknown, unknown>, context: RunContext): Outcome | Promise<Outcome> => {
  const { draft, host } = context
  const nextDoubleUnsafe = (): number => draft.random()
  const nextIntUnsafe = (): number => Math.floor((draft.random() - 0.5) * 2 ** 53)
  const deterministic = effect.pipe(
    Effect.provideService(Clock.Clock, clockOf(draft)),
    Effect.provideService(Random.Random, { nextIntUnsafe, nextDoubleUnsafe }),
    Effect.provideService(Scheduler.Scheduler, schedulerOf(host))
  )
  const fiber = host.scope.inside(() => Effect.runForkWith(host.runs)(deterministic))
  const exit = fiber.pollUnsafe()
  if (exit !== undefined) return fromExit(draft, exit)
  const exits = new Promise<unknown>((resolve, reject) => {
    fiber.addObserver((exit) => Exit.isSuccess(exit) ? resolve(exit.value) : reject(Cause.squash(exit.cause)))
  })
  return limited(exits, { ...context, stop: () => fiber.interruptUnsafe() })
}

/**
 * The scheduler of a run. That of all Effects runs the tasks of several fibers in one task of the host, which is in the scope of
 * the first.
 */
const schedulerOf = ({ scope, turn }: RunHost): Scheduler.Scheduler =>
  new Scheduler.MixedScheduler("async", (task) => {
    let isCancelled = false
    turn(() => isCancelled || scope.inside(task))
    return () => {
      isCancelled = true
    }
  })

const fromExit = (draft: Draft, exit: Exit.Exit<unknown, unknown>): Outcome =>
  Exit.isSuccess(exit) ? conclude(draft, exit.value) : failureOf(draft, Cause.squash(exit.cause))

const NO_SLEEP = "a run does not sleep; declare durable: true, or send a signal with at: { ms } and go on when it comes"

/** The beat's clock. It is constant, and its `sleep` fails. */
const clockOf = (draft: Draft): Clock.Clock => {
  const nanos = BigInt(draft.now) * 1_000_000n
  return {
    currentTimeMillisUnsafe: () => draft.now,
    currentTimeMillis: Effect.succeed(draft.now),
    currentTimeNanosUnsafe: () => nanos,
    currentTimeNanos: Effect.succeed(nanos),
    monotonicTimeNanosUnsafe: () => nanos,
    monotonicTimeNanos: Effect.succeed(nanos),
    sleep: () => Effect.die(new TransactionRefused({ reason: NO_SLEEP }))
  }
}

/** Awaits a run within its time limit. A run that exceeds it loses its transaction. */
const limited = (result: PromiseLike<unknown>, context: RunContext & { readonly stop?: () => void }): Promise<Outcome> => {
  const { draft, entry, host, stop } = context
  const { limitMs, name } = entry.enzyme
  const { scope } = host
  const awaited = host.awaits?.(name, limitMs)
  scope.begins()
  return new Promise((resolve) => {
    const settled = scope.inside(() => Promise.resolve(result))
    const cancel = host.timer(host.now() + limitMs, () => {
      scope.mayNeverEnd(settled)
      awaited?.()
      draft.revoke(`the run took longer than its limit of ${limitMs} ms and is over`)
      stop?.()
      const message = `The run took longer than its limit of ${limitMs} ms. Set limitMs, or do the slow part outside the beat`
      resolve({ kind: "retry", tag: "Timeout", code: TIMEOUT, message })
    })
    const complete = (outcome: Outcome): void => {
      scope.ends(settled)
      awaited?.()
      cancel()
      resolve(outcome)
    }
    void settled.then((value) => conclude(draft, value)).catch((error: unknown) => failureOf(draft, error)).then(complete)
  })
}

/** The outcome of a run that returned without an exception. */
export const conclude = (draft: Draft, value: unknown): Outcome => {
  if (draft.refusal !== undefined) return failureOf(draft, draft.refusal)
  draft.revoke("the run is over")
  if (value === undefined) return { kind: "ok", result: undefined }
  if (isTagged(value, "Retry") || isTagged(value, "Fatal")) return failureOf(draft, value)
  try {
    return { kind: "ok", result: Codec.encode(value) }
  } catch (error) {
    return failureOf(draft, error)
  }
}

/** The outcome of a run that raised an error, or that was refused a call. */
export const failureOf = (draft: Draft, raised: unknown): RunFailure => {
  draft.revoke("the run is over")
  const outcome = failure(draft.refusal ?? raised)
  const isForged = RESERVED.has(outcome.code) && draft.refusal === undefined && !isOwn(raised)
  return isForged && Semantics.follows(draft.moment, "codesAreReserved") ? { ...outcome, code: FAILED } : outcome
}

/** Whether the runtime itself raised an error. */
const isOwn = (raised: unknown): boolean => typeof raised === "object" && raised !== null && OWN in raised
