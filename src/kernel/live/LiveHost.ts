/**
 * An open space, as the live halves of its ledgers use it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { LiveHost } from "../../ledger/Ledger.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import { hashOf } from "../../stage/Content.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { CommandQueue } from "./CommandQueue.ts"
import type { Uploads } from "./Uploads.ts"

/** The members of the state of a space that the hosts of live halves use. */
type State = Pick<LiveState, "documents" | "host" | "mode" | "reporter" | "space" | "store" | "telemetry">

/** The parts of an open space at which live halves have work done. */
interface Work {
  readonly commands: Pick<CommandQueue, "submit">
  readonly group: Pick<GroupCommit, "wake">
  readonly uploads: Uploads
  readonly frame: LiveHost["frame"]
}

/** The host of the live halves of a space. */
export const make = (state: State, { commands, frame, group, uploads }: Work): LiveHost => {
  const { documents, host, reporter, space, store, telemetry } = state
  return {
    space,
    wake: group.wake,
    submit: (command) => void host.fork(Effect.exit(commands.submit(() => ({ kind: "ledger", ...command }), false))),
    now: host.now,
    beat: () => store.head().beat,
    isGated: () => state.mode.gated,
    report: (told) => reporter.report(told),
    telemetry,
    documents,
    keep: (bytes, limit, signal) => uploads.keep(bytes, limit, signal),
    content: (address) => {
      const hash = hashOf(address)
      return hash === undefined ? undefined : LargeContent.whole(hash, store.blob(hash))
    },
    frame
  }
}
