/**
 * The ledger of durable runs: the commands on a run, and the consequences of a rollback.
 *
 * A command leaves a note, and resumes the run. The next segment of the run executes the note.
 *
 * @module
 */
import type { Ledger, LedgerBeat } from "../ledger/Ledger.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Write from "../stage/write/Write.ts"
import { COMMIT } from "../stage/Stage.ts"
import * as Cells from "./Cells.ts"
import { ContinuationCache } from "./ContinuationCache.ts"
import * as Note from "./Note.ts"
import * as Rollback from "./Rollback.ts"
import { RunAbsent, RunState } from "./RunError.ts"

/** A request from outside: the cancellation of a run, at its open handles or at once. */
export interface Cancellation {
  readonly verb: "cancel"
  readonly oid: string
  readonly how: "await" | "now"
}

/** The host saw a body continue outside its segments: before this segment. */
export interface Straying {
  readonly verb: "stray"
  readonly oid: string
  readonly segment: number
  readonly stray: Note.Stray
}

/** A command on a run. */
export type RunCommand = Cancellation | Straying

const NAME = "run"

interface RunKinds {
  readonly Face: undefined
  readonly Command: RunCommand
  /** The id of the operation. */
  readonly Reply: string
  readonly Launch: never
  /** The bodies in memory. */
  readonly State: ContinuationCache
  readonly Work: undefined
  readonly Input: never
  readonly Output: undefined
  readonly Limits: unknown
}

/**
 * Checks that a run lives.
 *
 * @throws RunAbsent, RunState
 */
const checkLives = (draft: Draft, oid: string, verb: string): void => {
  const run = Cells.find(oid, (key) => draft.visible(key))
  if (run === undefined) throw new RunAbsent({ oid: String(oid) })
  const { isDead, status } = run
  if (status !== undefined) throw new RunState({ oid, verb, reason: `it is over (${status})` })
  if (isDead) throw new RunState({ oid, verb, reason: "it was given up, and its letter can be sent again" })
}

/** The end of a run outweighs the cancellation of its handles. */
const strongest = (present: Note.Note["cancel"], asked: Cancellation["how"]): NonNullable<Note.Note["cancel"]> => {
  if (present === "now" || present === "back") return present
  return asked === "now" ? "now" : "await"
}

const commands: Ledger<RunKinds>["commands"] = {
  cancel: {
    runsWhileHalted: false,
    execute: (draft, { how, oid }, beat: LedgerBeat<RunKinds>) => {
      checkLives(draft, oid, "cancel")
      const address = Note.addressOf(oid)
      const note = Note.read(draft.visible(address.key))
      draft.operate([Write.set(address, { ...note, cancel: strongest(note.cancel, how) })])
      beat.resume(oid)
      return oid
    }
  },
  stray: {
    runsWhileHalted: false,
    execute: (draft, { oid, segment, stray }, beat: LedgerBeat<RunKinds>) => {
      checkLives(draft, oid, "stray")
      const isAt = (step: number): boolean => draft.visible(Cells.address(oid, "step", String(step)).key) !== undefined
      // A run that has made this segment meanwhile made it with another body.
      if (isAt(segment) || !isAt(segment - 1)) return oid
      const address = Note.addressOf(oid)
      draft.operate([Write.set(address, { ...Note.read(draft.visible(address.key)), stray })])
      beat.resume(oid)
      return oid
    }
  }
}

/**
 * The ledger of durable runs.
 */
export const runs: Ledger<RunKinds> = {
  name: NAME,
  folders: [Note.FOLDER],
  refusals: [RunAbsent, RunState],
  commands,
  open: () => new ContinuationCache(),
  timers: () => [],
  transaction: () => undefined,
  atCommit: () => {},
  committed: () => undefined,
  resumption: {
    resumed: (state, oid, id) => state.note(oid, id),
    atEnd: (stage, oids) => Note.mark(stage, oids, COMMIT)
  },
  live: (state, host) => ({
    isQuiet: true,
    resume: () => {
      state.strayed = (run) => host.submit({ ledger: NAME, command: { verb: "stray", ...run } })
    },
    flushed: () => {},
    stop: () => {
      state.strayed = undefined
    }
  }),
  rollback: { listed: ["runs", "runs"], nameOf: Rollback.nameOf, takeBack: Rollback.takeBack }
}
