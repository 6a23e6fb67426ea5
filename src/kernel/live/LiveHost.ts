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
import * as Fibers from "../model/Fibers.ts"
import { InboxFull } from "../model/SpaceError.ts"
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

/** The time after which a full inbox is tried again, in milliseconds. */
const AGAIN = 1000

/** Waits for room in the inbox. */
const patient = <A, E>(submitted: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.catchIf(
    submitted,
    (error) => error instanceof InboxFull,
    () => Effect.andThen(Effect.sleep(AGAIN), Effect.suspend(() => patient(submitted)))
  )

/** The host of the live halves of a space. */
export const make = (state: State, { commands, frame, group, uploads }: Work): LiveHost => {
  const { documents, host, reporter, space, store, telemetry } = state
  const background = Fibers.background(host.fork, reporter)
  return {
    space,
    wake: group.wake,
    // A refusal is the end of it: the space has stopped, or the record of the command is over.
    submit: (command) => background(Effect.ignore(patient(commands.submit(() => ({ kind: "ledger", ...command }), false)))),
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
