/**
 * Endpoints of the runtime: its probes, its modules, and its spaces.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import { LIVE, READY, SPACE, SPACES } from "./Paths.ts"
import * as Query from "./Query.ts"
import { FLOWS } from "./SlicePaths.ts"
import { words } from "./Words.ts"

const text = Schema.String
const count = Schema.Number

/** The endpoint of the liveness probe. */
export const live = Endpoint.make("GET", LIVE, {
  does: words("200 while the event loop answers. Needs no token."),
  answer: () => Schema.Struct({ status: Schema.Literal("live") }),
  access: "anyone"
})

const stopped = () => Schema.Struct({
  status: Schema.Literal("stopped"),
  count,
  stopped: Schema.optionalKey(Schema.Array(Schema.Struct({ space: text, store: text, code: text, reason: text })))
})

/** The endpoint of the readiness probe. */
export const ready = Endpoint.make("GET", READY, {
  does: words(
    "200 while every requested space runs and the data folder takes data, else 503: with `store/unavailable` on a full disk. " +
    "Needs no token; without one, only the number of stopped spaces is shown. With it, each stopped space, its store and the reason."
  ),
  answer: () => Schema.Struct({ status: Schema.Literal("ready") }),
  others: { 503: stopped },
  access: "anyone"
})

/** The query of a list whose cursor is a number of rows. */
const listed = () => Schema.Struct(Query.numberedPage())

const described = () => Schema.Array(Schema.Record(text, Schema.Unknown))

/** The list of enzymes. */
export const enzymes = Endpoint.make("GET", "/v1/enzymes", {
  does: words("The registered enzymes: descriptors and the digests of their modules."),
  query: listed,
  answer: () => Schema.Struct({ enzymes: described(), next: Query.next(count) })
})

/** The list of flows. */
export const flows = Endpoint.make("GET", FLOWS, {
  does: words("The declared flows, step by step."),
  query: listed,
  answer: () => Schema.Struct({
    flows: Schema.Array(Schema.Struct({
      name: text,
      steps: Schema.Array(Schema.Struct({ step: text, kind: text, goals: Schema.Array(text) }))
    })),
    next: Query.next(count)
  })
})

/** The list of spaces. */
export const list = Endpoint.make("GET", SPACES, {
  does: words("The names of all spaces in order, and `next`, the cursor of the next page."),
  query: () => Schema.Struct({ after: Query.text(), limit: Query.limit(Query.MOST, Query.MOST) }),
  answer: () => Schema.Struct({ spaces: Schema.Array(text), next: Query.next(text) })
})

const created = () => Schema.Struct({ space: text, created: Schema.Boolean })

/** The creation of a space. */
export const create = Endpoint.make("PUT", SPACE, {
  does: words("Creates a space: 201 after its boot. 200 if it exists."),
  answer: created,
  status: 201,
  others: { 200: created },
  verb: "admin"
})

/** The removal of a space. */
export const remove = Endpoint.make("DELETE", SPACE, {
  does: words(
    "Deletes a space with all its data: 200. Requests in progress are answered 503. Later signals find no space, unless " +
    "spaces are created on demand."
  ),
  answer: () => Schema.Struct({ space: text, removed: Schema.Boolean }),
  verb: "admin"
})
