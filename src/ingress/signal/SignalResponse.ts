/**
 * The response to a posted signal: its receipt if it is handled in time, else 202 after it is durable.
 *
 * This is the hot path of the ingress, so it uses callbacks. The receipt usually arrives with the flush that makes the
 * signal durable, and then no timer is started.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Nearest from "../../cell/Nearest.ts"
import type { Receipt } from "../../kernel/model/Receipt.ts"
import type { Accepted, PostedSignal, Space } from "../../kernel/view/Space.ts"
import * as EventFailed from "../wire/EventFailed.ts"
import * as Json from "../wire/Json.ts"
import * as Wire from "../wire/Wire.ts"
import type { Runner } from "../wire/Runner.ts"

/** The answer to one signal: a response of its own, or one of a batch. */
export interface Answer {
  readonly status: number
  /** The path of the receipt. */
  readonly location: string
  readonly body: object
}

/** The parameters of an answer. */
export interface AnswerOptions<R> {
  /** Runs the wait. */
  readonly runner: Pick<Runner, "background">
  /** The most seconds to wait for the receipt; `undefined` does not wait. */
  readonly seconds: number | undefined
  /** Answers with a receipt. */
  readonly end: (receipt: R) => void
}

/** The callbacks of a posted signal, of which one is called once. An event that ended without success is a failure, too. */
export interface AnswerCallbacks {
  readonly answered: (answer: Answer) => void
  readonly fail: (failure: unknown) => void
}

/** The queries of all enzymes, and the runner that reads them. */
interface Queries {
  readonly queries: Effect.Effect<Iterable<string>>
  readonly runner: Pick<Runner, "promise">
}

/** The space that takes a signal, as its operator or a reader has it. */
export interface Receiver<R> extends Pick<Space, "name"> {
  readonly post: (request: PostedSignal, hears: {
    readonly accepted: (accepted: Omit<Accepted, "beat">) => void
    readonly settled?: (receipt: R) => void
    readonly fail: (failure: unknown) => void
  }) => () => void
}

/**
 * The answer with the receipt of an operator's signal. For one that no enzyme takes, it names the nearest of the queries of all.
 */
export const ended =
  (name: string, asked: PostedSignal, { queries, runner, ...hears }: AnswerCallbacks & Queries) =>
  (receipt: Receipt): void => {
    const { signal } = asked
    const end = (asked: Wire.ReceiptSignal): void => answerEnd(name, Wire.receipt(receipt, asked), hears)
    if (receipt.status !== "no-match" || signal === undefined) end(asked)
    else runner.promise(Effect.map(queries, (all) => end({ ...asked, nearest: Nearest.of(signal, all) }))).catch(hears.fail)
  }

/**
 * Posts a signal, and waits for its receipt at most so long.
 */
export const post = <R>(
  space: Receiver<R>,
  request: PostedSignal,
  { answered, end, fail, runner, seconds }: AnswerOptions<R> & AnswerCallbacks
): void => {
  if (seconds === undefined) {
    space.post(request, { accepted: (accepted) => answered(acceptedAnswer(space.name, accepted)), fail })
    return
  }
  let timer: Fiber.Fiber<void> | undefined
  let isOver = false
  const finish = (): void => {
    isOver = true
    timer?.interruptUnsafe()
  }
  const cancel = space.post(request, {
    settled: (receipt) => {
      finish()
      end(receipt)
    },
    accepted: (accepted) => {
      if (isOver) return
      const late = Effect.sync(() => {
        cancel()
        answered(acceptedAnswer(space.name, accepted))
      })
      timer = runner.background(Effect.andThen(Effect.sleep(seconds * 1000), late), { failed: fail })
    },
    // The space may stop after the signal is durable.
    fail: (failure) => {
      finish()
      fail(failure)
    }
  })
}

/** The path of a receipt. */
const placeOf = (space: string, id: string): string => `/v1/spaces/${space}/receipts/${encodeURIComponent(id)}`

/** The answer once a signal is durable, and not over. A reader is not told its beat. */
export const acceptedAnswer = (space: string, accepted: Omit<Accepted, "beat">): Answer => {
  const location = placeOf(space, accepted.id)
  return { status: 202, location, body: { ...accepted, receipt: location } }
}

/** Answers once an event is over: with its receipt, or with the failure of its end. */
export const answerEnd = (space: string, event: EventFailed.ReceiptAnswer, { answered, fail }: AnswerCallbacks): void => {
  const failure = EventFailed.of(event, placeOf(space, event.id))
  if (failure === undefined) answered({ status: 200, location: placeOf(space, event.id), body: event })
  else fail(failure)
}

/** An answer as a response of its own. */
export const response = ({ body, location, status }: Answer, seconds: number | undefined): Response => {
  const headers = { "cache-control": "no-store", ...status === 200 ? { "preference-applied": `wait=${seconds}` } : { location } }
  return Json.answer(body, { status, headers })
}
