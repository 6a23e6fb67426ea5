/**
 * Batches of signals: each is decoded, refused and answered by itself.
 *
 * All signals of a batch are posted in one turn, so that one flush makes them durable. The answers are kept as texts of a limited
 * size, whatever the receipts hold.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { MAX_BATCH } from "../../contract/Signals.ts"
import type { PostedSignal } from "../../kernel/view/Space.ts"
import * as Body from "../wire/Body.ts"
import * as Problem from "../wire/Problem.ts"
import type * as SignalResponse from "./SignalResponse.ts"
import * as SignalRequest from "./SignalRequest.ts"
import type { Runner } from "../wire/Runner.ts"

/** The answer to a signal of a batch. One that is refused has no receipt. */
type Answer = Omit<SignalResponse.Answer, "location"> & { readonly location?: string }

/** A signal of a batch, or its refusal. */
export type Item = { readonly signal: PostedSignal } | { readonly refused: unknown }

/** The most characters of all answers together. Those after it are sent without their bodies. */
const MAX_ANSWERS = 8_388_608

/** The number of signals that are decoded in one turn. */
const TURN = 100

/** Decodes the signals of a batch; `runner` runs the turns of other requests between. */
interface Decoding<A> {
  readonly decode: (given: A) => PostedSignal
  readonly runner: Pick<Runner, "promise">
}

const items = async <A>(given: ReadonlyArray<A>, { decode, runner }: Decoding<A>): Promise<ReadonlyArray<Item>> => {
  const { length } = given
  if (length === 0) throw new Problem.RequestRefused({ code: "body/malformed", reason: "The batch has no signal. Send at least one" })
  if (length > MAX_BATCH) throw new Problem.RequestRefused({
    code: "body/too-large",
    reason: `The batch has ${length} signals, and ${MAX_BATCH} are the most. None of them was taken; send them in several batches`
  })
  const made: Array<Item> = []
  for (const [i, each] of given.entries()) {
    if (i > 0 && i % TURN === 0) await runner.promise(Effect.yieldNow)
    made.push(item(() => decode(each)))
  }
  return made
}

const item = (decode: () => PostedSignal): Item => {
  try {
    const signal = decode()
    SignalRequest.check(signal)
    return { signal }
  } catch (refused) {
    return { refused }
  }
}

/**
 * The signals of a parsed body. Rejects with {@link Problem.RequestRefused} for none or too many.
 */
export const ofList = async (
  body: unknown,
  { decode, runner }: Pick<Decoding<unknown>, "runner"> & { readonly decode: typeof SignalRequest.decode }
): Promise<ReadonlyArray<Item>> => {
  if (Array.isArray(body)) return items(body as ReadonlyArray<unknown>, { decode: (each) => decode(each, null), runner })
  throw new Problem.RequestRefused({ code: "body/malformed", reason: "The body of a batch is no list. Send its signals in a list" })
}

/** The most lines that are looked at: one more than a batch may have, beside the end of the last. */
const MAX_LINES = MAX_BATCH + 2

/**
 * The signals of a text with one in each line. An empty line at the end is none.
 */
export const ofLines = (text: string, runner: Pick<Runner, "promise">): Promise<ReadonlyArray<Item>> => {
  const lines = text.split(/\r?\n/, MAX_LINES)
  if (lines.at(-1) === "") lines.pop()
  return items(lines, { decode: (line) => SignalRequest.decode(Body.parse(line), null), runner })
}

/** The parts of an answer before its body. */
const headOf = ({ location, status }: Answer): string =>
  `"status":${status}${location === undefined ? "" : `,"location":${JSON.stringify(location)}`}`

/**
 * Sends the signals of a batch in one turn, and waits for the answers.
 */
export const answer = (
  batch: ReadonlyArray<Item>,
  { report, send }: {
    readonly send: (signal: PostedSignal, hears: SignalResponse.AnswerCallbacks) => void
    /** Receives each failure of the runtime. */
    readonly report: (failure: unknown) => void
  }
): Promise<Response> =>
  new Promise((resolve) => {
    const texts = Array.from({ length: batch.length }, () => "")
    let [left, size] = [batch.length, 0]
    const put = (i: number, answer: Answer): void => {
      const body = JSON.stringify(answer.body)
      const isKept = size + body.length <= MAX_ANSWERS
      texts[i] = isKept ? `{${headOf(answer)},"body":${body}}` : `{${headOf(answer)}}`
      if (isKept) size += body.length
      if (--left === 0) resolve(responseOf(texts))
    }
    for (const [i, each] of batch.entries()) {
      const fail = (failure: unknown): void => {
        report(failure)
        const body = Problem.of(failure)
        put(i, { status: body.status, ...Problem.placeOf(failure), body })
      }
      if ("refused" in each) fail(each.refused)
      else send(each.signal, { answered: (answer) => put(i, answer), fail })
    }
  })

const responseOf = (texts: ReadonlyArray<string>): Response =>
  new Response(`{"answers":[${texts.join()}]}`, {
    status: 207,
    headers: { "content-type": "application/json", "cache-control": "no-store" }
  })
