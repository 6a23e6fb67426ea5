/**
 * The wire format of values: JSON, or the superjson form for values that JSON cannot represent.
 *
 * A plain value is `application/json`. A value with a Date, a Map or the like is
 * `{ "$rich": { "json": …, "meta": … } }` with the media type `application/vnd.systole.rich+json`. Nested values use the same form.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import * as Rich from "../../cell/Rich.ts"
import * as RichJson from "../../cell/RichJson.ts"
import * as Value from "../../cell/Value.ts"
import * as CellValue from "../../contract/CellValue.ts"
import type { Hash } from "../../persistence/Hash.ts"
import * as EntityTag from "./EntityTag.ts"
import { RequestRefused } from "./Problem.ts"
import type { HandlingReceipt, Receipt } from "../../kernel/model/Receipt.ts"
import type { PostedSignal, ShownReceipt } from "../../kernel/view/Space.ts"

/**
 * A response with a value as its body, or 304 for a request that has it.
 */
export const response = (value: Value.Value, request: Request, hash: Pick<Hash["Service"], "hex">): Response => {
  const document = Document.encode(value)
  const etag = EntityTag.of(document.text, hash)
  const headers = { etag, "cache-control": "no-store" }
  if (EntityTag.names(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers })
  const type = document.plain === undefined ? CellValue.RICH : "application/json"
  return new Response(document.text, { headers: { "content-type": type, ...headers } })
}

/** A receipt as JSON. */
export interface ReceiptJson extends Omit<Receipt, "handlings"> {
  readonly handlings: ReadonlyArray<Omit<HandlingReceipt, "value"> & { readonly value: unknown }>
  /** The reason for which no enzyme ran, with a remedy. */
  readonly reason: string | undefined
}

/** The signal of a receipt, if known. */
export interface ReceiptSignal {
  readonly signal?: string | undefined
  readonly target?: string | undefined
  /** The query that is most like the signal, for a caller who may see the queries. */
  readonly nearest?: string | undefined
}

/**
 * A receipt as JSON, with a reason if no enzyme ran.
 */
export const receipt = (receipt: Receipt, asked: ReceiptSignal = {}): ReceiptJson => ({
  ...receipt,
  reason: reasons[receipt.status]?.(receipt, asked),
  handlings: receipt.handlings.map((handling) => ({ ...handling, value: CellValue.toJson(handling.value) }))
})

/**
 * The receipt of a reader as JSON. A withheld handling has no value.
 */
export const shownReceipt = (receipt: ShownReceipt) => ({
  ...receipt,
  handlings: receipt.handlings.map((handling) => handling.outcome === "withheld"
    ? handling
    : { ...handling, value: CellValue.toJson(handling.value) })
})

const eventOf = ({ id }: Receipt, { signal, target }: ReceiptSignal): string => {
  const said = [signal, target === undefined ? undefined : `target ${target}`].filter((part) => part !== undefined)
  return said.length === 0 ? `event ${id}` : `signal ${said.join(" with ")}`
}

/** The reasons for which no enzyme ran, by the status of the receipt. */
const reasons: Partial<Record<Receipt["status"], (receipt: Receipt, asked: ReceiptSignal) => string>> = {
  discarded: (receipt, asked) => `${eventOf(receipt, asked)} waited with qos discard while the space was rolled back, and was dropped`,
  cycle: (receipt, asked) =>
    `The enzymes that take ${eventOf(receipt, asked)} order each other in a circle, so none of them ran. See to their before and after`,
  "no-match": (receipt, asked) => {
    const where = asked.signal !== undefined && asked.target === undefined
      ? "its query, unless it declares target: \"required\", for which the signal lacks a target"
      : "its query, and a bind at the target or above it"
    const like = asked.nearest === undefined ? "" : ` The nearest query is ${asked.nearest}.`
    return `No enzyme takes ${eventOf(receipt, asked)}.${like} An enzyme takes it by ${where}; GET /v1/enzymes, or systole enzyme ls, ` +
      "shows those of each"
  }
}

/**
 * Decodes the value of a parsed body by its media type.
 *
 * @throws InvalidValue
 */
export const value = (body: unknown, type: string | null): Value.Value => {
  const { rich, value } = Value.canonical(body)
  return rich || !isRich(type) ? value : accepted(() => Rich.accept(value), "body")
}

/** Whether a body of this media type has values in the rich form. */
export const isRich = (type: string | null): boolean => type?.startsWith(CellValue.RICH) === true

/**
 * A signal from a body of the rich media type, in which its payload may be in the form.
 *
 * @throws RequestRefused
 */
export const signal = (given: PostedSignal): PostedSignal =>
  given.payload === undefined ? given : { ...given, payload: accepted(() => RichJson.fromJson(given.payload), "payload") }

/** @throws RequestRefused */
const accepted = (accept: () => Value.Value, name: string): Value.Value => {
  try {
    return accept()
  } catch (error) {
    if (!(error instanceof Value.InvalidValue)) throw error
    throw new RequestRefused({ code: "body/malformed", reason: `The ${name} is not in the form of ${CellValue.RICH}: ${error.message}` })
  }
}
