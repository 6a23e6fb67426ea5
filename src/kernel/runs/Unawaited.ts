/**
 * Requests that the body of a durable run made, and that none of its code awaits at its end. They are cancelled with the run, which
 * is rarely intended.
 *
 * @module
 */
import type { Address } from "../../cell/Address.ts"
import { severities } from "../../diagnostic/Topic.ts"
import type { Draft } from "../../stage/Draft.ts"

const TOPIC = "run/unawaited"

/** Adds a report of the open requests that the body of a run does not await. */
export const report = (draft: Draft, place: (rid: string) => Address, rids: ReadonlyArray<string>): void => {
  const [first] = rids
  if (first === undefined) return
  const more = rids.length === 1 ? "" : ` and ${rids.length - 1} more`
  const note = `request ${first}${more} was open at the end of its run, which did not await it, and is cancelled`
  draft.reports = [...draft.reports, {
    severity: severities[TOPIC],
    topic: TOPIC,
    code: TOPIC,
    note,
    subject: place(first),
    payload: undefined,
    attach: undefined,
    signal: false
  }]
}
