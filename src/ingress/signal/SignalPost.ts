/**
 * The request that takes signals: one, or a batch.
 *
 * @module
 */
import type { PostedSignal } from "../../kernel/view/Space.ts"
import * as Body from "../wire/Body.ts"
import * as CloudEvents from "./CloudEvents.ts"
import { RequestRefused } from "../wire/Problem.ts"
import * as SignalBatch from "./SignalBatch.ts"
import * as SignalRequest from "./SignalRequest.ts"
import * as SignalResponse from "./SignalResponse.ts"
import type { Runner } from "../wire/Runner.ts"
import * as Wire from "../wire/Wire.ts"

/** Sends a signal, and waits for its receipt at most so many seconds. */
export type Send = (signal: PostedSignal, seconds: number | undefined, hears: SignalResponse.AnswerCallbacks) => void

/** The receiver of the signals of a request. */
export interface Receiver {
  /** Finds the space. `check` refuses what no space would take, before one is created. */
  readonly open: (check: () => void) => Send | Promise<Send>
  /** Receives each failure of the runtime within a batch. */
  readonly report: (failure: unknown) => void
  /** Takes the further signals of a batch of the caller's rate: the answer if they are too many. */
  readonly charge?: ((signals: number) => Response | undefined) | undefined
  /** Runs the Effects of the request. */
  readonly runner: Pick<Runner, "promise">
}

const NDJSON = /^application\/(?:x-)?ndjson\s*(?:;|$)/i

type Sent = PostedSignal | ReadonlyArray<SignalBatch.Item>

/** @throws RequestRefused */
const decodeRich: typeof SignalRequest.decode = (body, key) => Wire.signal(SignalRequest.decode(body, key))

/** The signal of a body, or those of a batch. */
const read = async (request: Request, { runner }: Pick<Receiver, "runner">): Promise<Sent> => {
  const key = request.headers.get("idempotency-key")
  const mode = CloudEvents.modeOf(request)
  if (mode === "binary") return CloudEvents.signalOf(await CloudEvents.ofBinary(request), key)
  const isLines = NDJSON.test(request.headers.get("content-type") ?? "")
  const body = isLines ? await Body.text(request) : await Body.json(request)
  if (mode === "structured") return CloudEvents.signalOf(body, key)
  const decode = Wire.isRich(request.headers.get("content-type")) ? decodeRich : SignalRequest.decode
  if (!isLines && mode === undefined && !Array.isArray(body)) return decode(body, key)
  if (key !== null) throw new RequestRefused({
    code: "signal/id-malformed",
    reason: "The header Idempotency-Key comes with a batch, and names one signal. Give each signal of the batch its own id"
  })
  if (isLines) return SignalBatch.ofLines(body as string, runner)
  return SignalBatch.ofList(body, { decode: mode === "batch" ? CloudEvents.signalOf : decode, runner })
}

const isBatch = (sent: Sent): sent is ReadonlyArray<SignalBatch.Item> => Array.isArray(sent)

/** @throws the refusal of the first signal, if each is refused */
const checkAll = (batch: ReadonlyArray<SignalBatch.Item>): void => {
  const [first] = batch
  if (first !== undefined && "refused" in first && batch.every((item) => "refused" in item)) throw first.refused
}

/**
 * Answers a request with one signal or with a batch.
 */
export const answer = async (request: Request, { charge, open, report, runner }: Receiver): Promise<Response> => {
  const sent = await read(request, { runner })
  const seconds = SignalRequest.waitSeconds(request.headers.get("prefer"))
  if (isBatch(sent)) {
    const over = charge?.(sent.length - 1)
    if (over !== undefined) return over
    const send = await open(() => checkAll(sent))
    return SignalBatch.answer(sent, { send: (signal, hears) => send(signal, seconds, hears), report })
  }
  const send = await open(() => SignalRequest.check(sent))
  return new Promise((resolve, reject) => send(sent, seconds, {
    answered: (answer) => resolve(SignalResponse.response(answer, seconds)),
    fail: reject
  }))
}
