/**
 * The HTTP application of a simulated host, with an operator and a reader, and the requests that they make.
 *
 * @module
 */
import { Effect, type Layer } from "effect"
import { type Hash, type Kernel, Redacted, Reporter, Slices, type Space } from "systole"
import * as App from "../../src/ingress/App.ts"
import { present } from "../support/Present.ts"
import { over } from "./Over.ts"
import { ownId } from "./Program.ts"

/** A request: its method, its path below the space, and its body. */
interface Route {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** The requests that change nothing, of each kind of view. */
const looks: ReadonlyArray<Route> = [
  "", "/cells/data/in/0", "/cells/data/derived/sum", "/cells/data/log/value/2", "/cells/data/log?list", "/cells/data?below",
  "/cells/data?below&values", "/cells/rt?list", "/waiting", "/dead", "/ops", "/runs", "/io/requests", "/rv", "/flow/instances",
  "/beats", "/graph", "/control", "/absent", ...[0, 1, 2].map((step) => `/receipts/${ownId(step)}`)
].map((path) => ({ method: "GET", path }))

const changes: ReadonlyArray<Route> = [
  { method: "PUT", path: "/cells/data/in/0", body: 4 },
  { method: "DELETE", path: "/cells/data/in/1" },
  { method: "POST", path: "/signals", body: { signal: "/signals/wake/0", target: "/data/wake" } },
  { method: "POST", path: "/signals", body: { signal: "no path" } },
  { method: "POST", path: "/signals", body: "{" }
]

const routes: ReadonlyArray<Route> = [...looks, ...looks, ...changes]

const OPERATOR = "the operator of a simulated world"
const READER = "a reader of a simulated world"

/** A kernel whose reads wait by the clock of the world. The application runs them by that of the host, which differs from run to run. */
const timed = (kernel: Kernel["Service"], clock: Layer.Layer<never>): Kernel["Service"] => {
  const space = (found: Space): Space => over(found, {
    pull: (address, waits) => Effect.provide(found.pull(address, waits), clock),
    reader: (clearance) => {
      const reader = found.reader(clearance)
      return over(reader, { get: (address, waits) => Effect.provide(reader.get(address, waits), clock) })
    }
  })
  return over(kernel, {
    space: (name, options) => Effect.map(kernel.space(name, options), space),
    opened: (name) => {
      const found = kernel.opened(name)
      return found === undefined ? undefined : space(found)
    }
  })
}

/** The door of one life of a host. Few lives have a request, so the application is made at the first one. */
export const make = ({ clock, hash, kernel, wrong }: {
  readonly clock: Layer.Layer<never>
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
  readonly wrong: (text: string) => void
}) => {
  let app: App.App | undefined
  const made = (): App.App => app ??= App.make({ kernel: timed(kernel, clock), hash, slices: Slices.all }, {
    token: Redacted.make(OPERATOR),
    readers: [{ name: "reader", token: Redacted.make(READER), atoms: [] }],
    loopback: false,
    reporter: new Reporter(() => {}),
    closing: new AbortController().signal,
    pages: {}
  })
  /** Makes a request of a number; returns its status. An answer that no caller expects is a contradiction. */
  return async (space: string, number: number): Promise<number> => {
    const { body, method, path } = present(routes[number % routes.length])
    const authorization = `Bearer ${number % 3 === 0 ? READER : OPERATOR}`
    const headers = { authorization, ...body === undefined ? {} : { "content-type": "application/json" } }
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const init = { method, headers, ...text === undefined ? {} : { body: text } }
    const response = await made().fetch(new Request(`http://localhost/v1/spaces/${space}${path}`, init))
    const answer = await response.text()
    if (response.status === 500) wrong(`${method} ${path} is answered with ${response.status}: ${answer}`)
    if (number % 3 === 0 && answer.includes("secret-")) wrong(`${method} ${path} shows a reader a secret: ${answer}`)
    return response.status
  }
}

/** A door. */
export type Door = ReturnType<typeof make>
