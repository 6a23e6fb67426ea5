/**
 * Expectations about a space, for any test runner: each throws an {@link ExpectationFailed} where it does not hold.
 *
 * @module
 */
import { type Cell, textAt } from "../../cell/Cell.ts"
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import { codeOf, type HandlingReceipt, type Receipt } from "../../kernel/model/Receipt.ts"
import { ExpectationFailed, same, show } from "./contract/Check.ts"
import type { SentSignal, TestSpace } from "./TestSpace.ts"

/** The parts of a handling that a test names. */
export interface ExpectedHandling {
  readonly outcome?: HandlingReceipt["outcome"]
  /** The value that the run returned. */
  readonly value?: unknown
  /** The code of the error. */
  readonly code?: string
  readonly attempt?: number
}

/** The parts of a receipt that a test names. */
export interface ExpectedReceipt {
  /** Default: `handled`. */
  readonly status?: Receipt["status"]
  /** The code of an event that ended without success, as HTTP answers it: `signal/no-match`, or that of its first dead letter. */
  readonly code?: string
  /** The value of the only handling. */
  readonly value?: unknown
  /** Handlings by the names of their enzymes. No other enzyme handled the event. */
  readonly handlings?: Readonly<Record<string, ExpectedHandling>>
}

/**
 * Checks a receipt; the parts that are not named are not checked.
 *
 * @throws ExpectationFailed
 * @category guards
 * @since 0.1.0
 */
export const expectReceipt = (receipt: Receipt | undefined, expected: ExpectedReceipt = {}): void => {
  if (receipt === undefined) throw new ExpectationFailed("there is no receipt: the id is not known", { actual: receipt, expected })
  const { handlings, id, status: actual } = receipt
  const { status = expected.code === undefined ? "handled" : actual } = expected
  if (actual !== status) {
    const message = `the receipt of ${id} is "${actual}", and "${status}" is expected${reasons(receipt)}`
    throw new ExpectationFailed(message, { actual, expected: status })
  }
  if (expected.code !== undefined) same(codeOf(receipt), expected.code, `the code of ${id}`)
  if ("value" in expected) {
    same(handlings.length, 1, `the number of handlings of ${id}`)
    for (const { enzyme, value } of handlings) sameValue(value, expected.value, `the value of ${enzyme}`)
  }
  if (expected.handlings === undefined) return
  same(handlings.map(({ enzyme }) => enzyme).toSorted(), Object.keys(expected.handlings).toSorted(), `the enzymes that handled ${id}`)
  for (const handling of handlings) expectHandling(handling, expected.handlings[handling.enzyme] ?? {})
}

const reasons = ({ handlings }: Receipt): string =>
  handlings.flatMap(({ enzyme, error }) => error === undefined ? [] : [`; ${enzyme} failed with ${error.code}: ${error.message}`]).join("")

const expectHandling = (handling: HandlingReceipt, expected: ExpectedHandling): void => {
  const { attempt, enzyme, error, outcome, value } = handling
  if (expected.outcome !== undefined) same(outcome, expected.outcome, `the outcome of ${enzyme}`)
  if (expected.attempt !== undefined) same(attempt, expected.attempt, `the attempt of ${enzyme}`)
  if (expected.code !== undefined) same(error?.code, expected.code, `the code of ${enzyme}`)
  if ("value" in expected) sameValue(value, expected.value, `the value of ${enzyme}`)
}

/**
 * Checks the value at an address, read with `pull`: a derived cell is brought up to date, by beats where that needs them.
 * `undefined` expects no value.
 *
 * @throws ExpectationFailed
 * @category guards
 * @since 0.1.0
 */
export const expectCell = async <A = unknown>(
  space: TestSpace,
  place: string | Cell<A>,
  expected: NoInfer<A> | undefined
): Promise<void> => sameValue(await space.pull(place), expected, textAt(place))

/** The parts of a signal that a test names. */
export interface ExpectedSignal {
  readonly signal?: string
  readonly target?: string
  readonly payload?: unknown
  /** The space that it goes to. */
  readonly space?: string
  /** How many such signals were sent. Default: one or more. */
  readonly times?: number
}

/**
 * Checks that runs sent such signals in the beats of this test; answers them in order.
 *
 * @throws ExpectationFailed
 * @category guards
 * @since 0.1.0
 */
export const expectSignal = ({ sent }: TestSpace, expected: ExpectedSignal): ReadonlyArray<SentSignal> => {
  const found = sent.filter((signal) => isMatch(signal, expected))
  const { times, ...named } = expected
  if (times === undefined ? found.length > 0 : found.length === times) return found
  const all = sent.map(({ beat, payload, signal, space, target }) => show(defined({ beat, signal, target, payload, space })))
  const count = times === undefined ? "no signal" : `${found.length} instead of ${Printable.count(times, "signal")}`
  const message = `${count} matched ${show(named)}; runs sent ${all.length === 0 ? "none" : all.join(", ")}`
  throw new ExpectationFailed(message, { actual: found, expected })
}

/** The fields of a record with a value. */
const defined = (record: object): object => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

const isMatch = (sent: SentSignal, expected: ExpectedSignal): boolean =>
  (expected.signal === undefined || sent.signal === expected.signal) &&
  (expected.target === undefined || sent.target === expected.target) &&
  (expected.space === undefined || sent.space === expected.space) &&
  (!("payload" in expected) || isSame(sent.payload, expected.payload))

/** Whether two values are equal as cells: equal values have equal texts. */
const isSame = (actual: Value, expected: unknown): boolean =>
  actual === undefined || expected === undefined ? actual === expected : Document.encode(actual).text === Document.encode(expected).text

const sameValue = (actual: Value, expected: unknown, subject: string): void => {
  if (isSame(actual, expected)) return
  throw new ExpectationFailed(`${subject} is ${show(actual)}, and ${show(expected)} is expected`, { actual, expected })
}
