/**
 * Attempts of actions as events of the space.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Document, InvalidValue, sha256 } from "systole"
import type { Action } from "../document/Action.ts"
import type { Place } from "../store/ControlStore.ts"
import * as Dependencies from "../document/Dependencies.ts"
import { awaitEnd, type Failure, SpaceClient, type LedgerFailed } from "../order/SpaceClient.ts"
import type { Order } from "../order/Order.ts"
import * as Orders from "../order/Order.ts"
import * as Record from "../order/Record.ts"
import type { WakeFacts } from "../store/ControlStore.ts"
import * as MemberProgress from "./MemberProgress.ts"
import type { ActionState } from "./Plan.ts"
import * as State from "./State.ts"

/** One attempt of an occurrence. */
export interface DueAttempt {
  readonly action: Action
  readonly occurrence: string
  readonly attempt: number
}

/** The file of an attempt, with its actions and records. */
export interface Context {
  readonly place: Place
  readonly byId: ReadonlyMap<string, Action>
  readonly records: ReadonlyMap<string, Record.Record>
  /** The records of the actions that ended in this wake. */
  readonly ended: ReadonlyMap<string, Record.Record>
  readonly states: ReadonlyMap<string, ActionState>
  readonly captured: WakeFacts
  /** The digest of the block of an action. */
  readonly digestOf: (action: Action) => string
}

const plainOrderOf = ({ action, attempt, occurrence }: DueAttempt, { digestOf, place, records }: Context): Order => ({
  file: place.key,
  path: place.path,
  action: action.id,
  name: action.name,
  type: action.type,
  occurrence,
  attempt,
  attempts: action.retry.attempts,
  pendings: State.pendings(action, records.get(action.id)),
  timeoutMs: action.timeout,
  fields: Orders.fieldsOf(action),
  digest: digestOf(action)
})

/**
 * The order of an attempt, with those of its members.
 */
export const orderOf = (due: DueAttempt, context: Context): Order => {
  const all = Dependencies.membersOf(due.action)
  const order = plainOrderOf(due, context)
  if (all.length === 0) return order
  const progress = MemberProgress.of(due, all, context)
  const over = new Set([...progress.completed, ...progress.skipped, ...progress.failed])
  const members = all.flatMap((id) => over.has(id) ? [] : context.byId.get(id) ?? [])
  const occurrence = `${due.action.id}/${due.occurrence}/${progress.round}`
  return {
    ...order,
    progress,
    ...members.some(({ condition }) => condition !== undefined) ? { facts: MemberProgress.factsOf(members, context) } : {},
    members: members.map((action) => ({
      ...orderOf({ action, occurrence, attempt: progress.next[action.id] ?? 1 }, context),
      ...MemberProgress.fieldsOf(action, all),
      isMember: true
    }))
  }
}

/** The id of the event of an attempt. It is the same in each process that has the file. */
export const eventId = ({ action, attempt, occurrence }: DueAttempt, { path }: Place): string =>
  `agent.${sha256(JSON.stringify([path, action.id, occurrence, attempt]))}`

/** The time by which a wait for a run exceeds the limit of an attempt, in milliseconds. */
export const GRACE_MILLIS = 10_000

/** The codes by which a space refuses a value. Any other failure of a request concerns all actions. */
const REFUSALS: ReadonlySet<string> = new Set(["value/invalid", "body/too-large", "body/too-deep"])

const refused = (reason: string): Failure => ({
  code: "agent/order-refused",
  message: `the space refuses its order: ${reason}. Shorten its fields, move texts to files, or name fewer members`
})

/** The failure of an order that no cell can hold, such as one with the fields of too many members. */
const refusalOf = (order: Order): Failure | undefined => {
  try {
    Document.encode(order)
    return undefined
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    return refused(error.reason)
  }
}

/** An attempt with its order. A refused one has no run. */
export interface PreparedAttempt extends DueAttempt {
  /** The id of its event. */
  readonly id: string
  readonly order: Order
  readonly refusal: Failure | undefined
}

/** The refusal of a value by the space; any other failure of the request stays. */
const refusing = <A>(request: Effect.Effect<A, LedgerFailed>): Effect.Effect<A | Failure, LedgerFailed> =>
  Effect.catch(request, (error) => REFUSALS.has(error.problem) ? Effect.succeed(refused(error.reason)) : Effect.fail(error))

/**
 * Prepares an attempt: the space has its permit. That comes before the file tells it as running, so a wake that follows a crash
 * knows the order that the file tells.
 */
export const prepare = Effect.fn("Dispatch.prepare")(function*(due: DueAttempt, context: Context) {
  const ledger = yield* SpaceClient
  const order = { ...orderOf(due, context), at: yield* Clock.currentTimeMillis }
  const id = eventId(due, context.place)
  const refusal = refusalOf(order) ?? (yield* refusing(ledger.set(Orders.permit(order.file, order.action), order))) ?? undefined
  return { ...due, id, order, refusal } satisfies PreparedAttempt as PreparedAttempt
})

/**
 * The attempt that an earlier wake prepared for an action, and of which the ledger has no record; `undefined` without one, or if a
 * person changed the block since. Its event may have been sent, and has the same id and payload again.
 */
export const earlierAttempt = Effect.fn("Dispatch.earlierAttempt")(function*(
  action: Action,
  record: Record.Record | undefined,
  context: Context
) {
  const found = decode(yield* SpaceClient.use((ledger) => ledger.get(Orders.permit(context.place.key, action.id))))
  if (found._tag === "None" || found.value.digest !== context.digestOf(action) || Record.isOf(record, found.value)) return undefined
  const { attempt, occurrence } = found.value
  const due = { action, attempt, occurrence }
  return { ...due, id: eventId(due, context.place), order: found.value, refusal: undefined } satisfies PreparedAttempt as PreparedAttempt
})

const decode = Schema.decodeUnknownOption(Orders.Order)

/**
 * Runs an attempt, and returns its record. An event that no enzyme takes is a failed attempt, too, and so is an order that no
 * cell can hold.
 */
export const run = Effect.fn("Dispatch.run")(function*(attempt: PreparedAttempt, context: Context) {
  const ledger = yield* SpaceClient
  const { action, id, order, refusal } = attempt
  if (refusal !== undefined) return yield* fail(attempt, context, refusal)
  const until = (yield* Clock.currentTimeMillis) + action.timeout + GRACE_MILLIS
  const sent = yield* refusing(ledger.send({ id, signal: Orders.signal(action.type), payload: order }))
  if (typeof sent === "object") return yield* fail(attempt, context, sent)
  const left = until - (yield* Clock.currentTimeMillis)
  const record = yield* awaitEnd({ file: order.file, action: action.id }, left)
  if (sent === "unhandled" || !Record.isOf(record, attempt)) {
    const message = `its event ${id} has no result; systole dead tells why`
    return yield* fail(attempt, context, { code: "agent/unhandled", message })
  }
  return record.status === "running" ? yield* interrupted(attempt, context) : record
})

/** Records the failure of an attempt whose run is gone, or does not end. A late end of the run is not recorded. */
const interrupted = (due: DueAttempt, context: Context) =>
  fail(due, context, { code: "agent/interrupted", message: "its run did not end within the timeout, and is given up" })

/**
 * The end of an attempt that an earlier wake began. A run that has not ended {@link GRACE_MILLIS} after its time limit is
 * given up, because a rollback or a deletion may have taken it away.
 */
export const resume = Effect.fn("Dispatch.resume")(function*(action: Action, record: Record.Record, context: Context) {
  const limit = action.timeout + GRACE_MILLIS
  const left = Record.beginOf(record) + limit - (yield* Clock.currentTimeMillis)
  const found = yield* awaitEnd({ file: context.place.key, action: action.id }, Math.max(0, Math.min(limit, left)))
  if (found !== undefined && found.status !== "running") return found
  const { attempt, occurrence } = found ?? record
  return yield* interrupted({ action, occurrence, attempt }, context)
})

/**
 * Records the failure of an action that the file tells as running, and that never reached the space.
 */
export const lose = (action: Action, context: Context, now: number) => {
  const due = { action, occurrence: `lost:${now}`, attempt: action.record.retryCount + 1 }
  return fail(due, context, { code: "agent/interrupted", message: "the agent ended before the action began" })
}

/**
 * Records a failed attempt that no run has recorded.
 */
export const fail = Effect.fn("Dispatch.fail")(function*(
  due: DueAttempt,
  context: Context,
  failure: NonNullable<Record.Record["failure"]>
) {
  const ledger = yield* SpaceClient
  const now = yield* Clock.currentTimeMillis
  const { action, attempt, attempts, digest = "", file, occurrence, pendings } = orderOf(due, context)
  const event = eventId(due, context.place)
  const record: Record.Record = {
    action, event, occurrence, attempt, attempts, pendings, digest, at: now, status: "failed", startedAt: now, finishedAt: now, failure
  }
  const history = `${Record.history(file)}/${action}`
  yield* ledger.set(Record.cell(file, action), record)
  yield* ledger.set(history, Record.append(yield* ledger.get(history), record))
  return record
})
