/**
 * The port of durable runs in a runtime without the slice `durable`: there is none, so nothing is to be done for them.
 *
 * @module
 */
import { SliceAbsent } from "../../ledger/SliceTable.ts"
import * as StoreCheck from "../../ledger/StoreCheck.ts"
import { InvalidEnzyme } from "../../registry/Enzyme.ts"
import type { DurableRuns, HeardBy, RunExecutor } from "../beat/RunExecutor.ts"

const heard: HeardBy = new Map()

const nothing = (): undefined => undefined

const absent = (): SliceAbsent => new SliceAbsent({ slice: "durable" })

const none: RunExecutor = {
  hear: (taken) => ({ taken, heard, ended: nothing }),
  run: () => Promise.reject(absent()),
  wait: () => {
    throw absent()
  },
  retry: nothing,
  finish: nothing,
  die: nothing,
  discard: nothing,
  track: nothing,
  forget: nothing,
  prepare: ({ anew, segment }) => anew || segment !== undefined ? absent() : { segment: undefined, run: undefined }
}

/** The runs of a runtime without durable runs. It takes no durable enzyme. */
export const runs: DurableRuns = {
  check: ({ durable, name }) => {
    if (durable) throw new InvalidEnzyme({ name, reason: absent().message })
  },
  executor: () => none,
  segments: nothing,
  whole: (pending, store) => {
    if (pending.again?.run !== undefined) throw StoreCheck.refusal(store, "durable", "/rt/ops")
    return pending
  },
  noted: () => []
}
