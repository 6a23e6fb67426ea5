/**
 * The refusals of endpoints: the codes that each states itself, and those that follow from its path, body, query and callers.
 *
 * @module
 */
import type { Endpoint } from "./Endpoint.ts"
import { SPACE } from "./Paths.ts"
import { type Code, kindOf, statuses } from "./Refusal.ts"

/** The refusals of a request that needs a token or a local caller. A reader is refused paths of the operator. */
const GUARDED: ReadonlyArray<Code> = ["auth/missing", "host/refused", "label/withheld"]

/** The refusals of a token with a scope. */
const SCOPED: ReadonlyArray<Code> = [
  "access/clearance", "access/prefix", "access/rate", "access/space", "access/unavailable", "access/verb", "auth/expired",
  "auth/jwt", "auth/revoked"
]

/** Those that no credential has where each may ask. */
const BY_SCOPE: ReadonlyArray<Code> = ["access/clearance", "access/prefix", "access/space", "access/verb", "label/withheld"]

/** The refusals of a request to a space. */
const OF_SPACE: ReadonlyArray<Code> = [
  "space/importing", "space/name", "space/unknown", "space/stopped", "store/busy", "store/conflict", "store/damaged", "store/locked",
  "store/stale", "store/unavailable", "store/version", "journal/version", "store/needs-ledger"
]

/** The refusals of a body in JSON. */
const OF_JSON: ReadonlyArray<Code> = ["body/key", "body/malformed", "body/media-type", "body/number", "body/too-deep", "body/too-large"]

/**
 * The codes of the refusals of an endpoint, in order. A failure of the runtime, which has the status 500, is none of them.
 *
 * @category getters
 * @since 0.2.0
 */
export const of = ({ access, body, effect, events, path, query, refusals = [] }: Endpoint): ReadonlyArray<string> => {
  const codes = new Set<string>(refusals)
  const add = (more: ReadonlyArray<Code>, isPresent: boolean): void => {
    if (isPresent) for (const code of more) codes.add(code)
  }
  add(GUARDED, access !== "anyone")
  add(SCOPED, access !== "anyone")
  if (access === "holder") for (const code of BY_SCOPE) codes.delete(code)
  add(OF_SPACE, path.startsWith(SPACE))
  add(OF_JSON, body !== undefined)
  add(["query/invalid"], query !== undefined)
  add(["watch/full", "watch/slow"], events !== undefined)
  add(["store/full"], effect === "adds")
  return [...codes].sort()
}

/**
 * The codes of the refusals of an endpoint by their status.
 *
 * @category getters
 * @since 0.2.0
 */
export const byStatus = (endpoint: Endpoint): ReadonlyMap<number, ReadonlyArray<string>> =>
  Map.groupBy(of(endpoint), (code) => statuses[kindOf(code) ?? "invalid"][0])
