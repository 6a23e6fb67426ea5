/**
 * The types `http` and `http_check`: requests to servers.
 *
 * @module
 */
import * as ActionType from "../order/ActionType.ts"

/** The names of usual statuses. */
const names: Readonly<Record<number, string>> = {
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified",
  400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 409: "Conflict", 410: "Gone", 429: "Too Many Requests",
  500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout"
}

/** A status with its name, such as `OK (200)`. */
const nameOf = (status: number): string => `${names[status] ?? "status"} (${status})`

/** Tests a status against `200, 204`, `2xx` or `200-299`. */
const isExpected = (status: number, expected: string): boolean =>
  expected.split(",").some((part) => {
    const [, digit, from, to] = /^\s*(?:([1-5])xx|(\d{3})(?:\s*-\s*(\d{3}))?)\s*$/i.exec(part) ?? []
    if (digit !== undefined) return Math.floor(status / 100) === Number(digit)
    return from !== undefined && status >= Number(from) && status <= Number(to ?? from)
  })

const isRange = (expected: string): boolean => expected.split(",").every((part) => /^\s*(?:[1-5]xx|\d{3}(?:\s*-\s*\d{3})?)\s*$/i.test(part))

/** The text of content, of which the channel gives the address. */
const textAt = ({ tx }: ActionType.Attempt, address: string): string => {
  const bytes = tx.get(address)
  return bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : ""
}

/** Sends the request, and checks the answer. */
const run = async (attempt: ActionType.Attempt): Promise<ActionType.Done> => {
  const { insert, raw, request, table, text } = attempt
  const url = insert(raw("url") || raw("target"))
  if (url === "") throw ActionType.invalid("The action has no url. Write - **url**: https://…")
  const expected = raw("expect_status") || "2xx"
  if (!isRange(expected)) {
    throw ActionType.invalid(`expect_status ${expected} is no list of statuses. Write one such as 2xx or 200, 204`)
  }
  const body = text("body")
  const answer = await request("http", "fetch", {
    url,
    method: (raw("method") || (body === "" ? "GET" : "POST")).toUpperCase(),
    headers: table("headers"),
    ...body === "" ? {} : { body }
  }) as { readonly status: number; readonly retryAfterMs?: number; readonly body?: string; readonly content?: string }
  const { status } = answer
  if (!isExpected(status, expected)) {
    throw new ActionType.ActionFailed("http/status", `The server answered with ${nameOf(status)}, and ${expected} is expected`, answer)
  }
  const output = answer.body ?? (answer.content === undefined ? "" : textAt(attempt, answer.content))
  const wanted = text("expect_body")
  if (wanted !== "" && !output.includes(wanted)) {
    const message = `The server answered with ${nameOf(status)}, and its body does not contain expect_body`
    throw new ActionType.ActionFailed("http/body", message, answer)
  }
  return { result: nameOf(status), output, ...answer.content === undefined ? {} : { content: answer.content } }
}

/** The type `http`. */
export const http = ActionType.make({ type: "http", run })

/** The type `http_check`, which is `http` with a name of its own. */
export const httpCheck = ActionType.make({ type: "http_check", run })
