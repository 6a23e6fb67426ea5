/**
 * The port of durable runs in a runtime without the slice `durable`: there is none, so nothing is to be done for them.
 *
 * @module
 */
import { SliceAbsent } from "../../ledger/SliceTable.ts"
import * as StoreCheck from "../../ledger/StoreCheck.ts"
import { InvalidEnzyme } from "../../registry/Enzyme.ts"
import type { DurableRuns, HeardBy, RunsOfSpaces } from "../beat/DurableRuns.ts"

const unheard: HeardBy = new Map()

const nothing = (): void => {}

const absent = (): SliceAbsent => new SliceAbsent({ slice: "durable" })

const none: DurableRuns = {
  strayed: undefined,
  hear: () => unheard,
  endedWithout: () => undefined,
  captured: nothing,
  committed: nothing,
  run: () => Promise.reject(absent()),
  between: () => undefined,
  hearBetween: nothing,
  wait: () => false,
  finish: nothing,
  adopt: nothing,
  die: nothing,
  discard: nothing,
  tell: nothing,
  prepare: ({ anew, segment }) => anew || segment !== undefined ? absent() : { segment: undefined, run: undefined },
  segments: () => undefined,
  whole: (pending, store) => {
    if (pending.again?.run !== undefined) throw StoreCheck.refusal(store, "durable", "/rt/ops")
    return pending
  },
  noted: () => [],
  note: nothing,
  fresh: () => none
}

/**
 * The runs of a runtime without durable runs. It takes no durable enzyme.
 */
export const runs: RunsOfSpaces = {
  check: ({ durable, name }) => {
    if (durable) throw new InvalidEnzyme({ name, reason: absent().message })
  },
  make: () => none
}
