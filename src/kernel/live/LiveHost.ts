/**
 * An open space, as the live halves of its ledgers use it.
 *
 * @module
 */
import type { LiveHost } from "../../ledger/Ledger.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import { hashOf } from "../../stage/Content.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Uploads } from "./Uploads.ts"

/** The host of the live halves of a space. */
export const make = (state: LiveState, group: Pick<GroupCommit, "wake">, uploads: Uploads): LiveHost => {
  const { documents, host, reporter, space, store } = state
  return {
    space,
    wake: () => group.wake(),
    now: host.now,
    beat: () => store.head().beat,
    isGated: () => state.mode.gated,
    report: (told) => reporter.report(told),
    documents,
    keep: (bytes, limit, signal) => uploads.keep(bytes, limit, signal),
    content: (address) => {
      const hash = hashOf(address)
      return hash === undefined ? undefined : LargeContent.whole(hash, store.blob(hash))
    }
  }
}
