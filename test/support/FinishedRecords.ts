/**
 * An enzyme that finishes a record of a name in each run, and the names of those that are kept.
 *
 * @module
 */
import { Effect } from "effect"
import type { Space } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"

const OPS = "/rt/ops"

/** Starts and closes an operation that is named by the payload of `/signals/finish`. */
export const finish = enzyme("finish", (tx, { payload }) =>
  void tx.op.close(tx.op.start({ verb: "op/x", target: `/data/${payload}`, mode: "opm:states" }), "sts:ok"))

/** The names of the finished records that a space keeps, in order. */
export const kept = Effect.fnUntraced(function*(space: Space) {
  const keys = yield* space.below(OPS, { limit: 10_000 })
  const oids = new Set(keys.map((key) => key.slice(OPS.length + 1).split("/", 1)[0]!))
  const envelopes = yield* Effect.forEach(oids, (oid) => space.get(`${OPS}/${oid}/envelope`))
  return envelopes.map((envelope) => (envelope as { readonly target: string }).target.slice("/data/".length)).toSorted()
})
