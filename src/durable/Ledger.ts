/**
 * The ledger of durable runs: the commands on a run.
 *
 * A command leaves a note, and has the run go on. The next segment of the run executes the note.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import type { Ledger, LedgerBeat } from "../ledger/Ledger.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Write from "../stage/Write.ts"
import * as Document from "../cell/Document.ts"
import * as Note from "./Note.ts"
import { RunAbsent, RunState } from "./RunError.ts"

/** The verb of the operation of a durable run. */
export const VERB = "op/run"

/** The state of the operation of a run that was given up. Its letter can be sent again. */
export const DEAD = "ist:dead"

/** The folder of the operations. */
const DOSSIERS = "/rt/ops"

/** A request from outside: the cancellation of a run, at its open handles or at once. */
export interface RunCommand {
  readonly verb: "cancel"
  readonly oid: string
  readonly how: "await" | "now"
}

interface RunKinds {
  readonly Face: undefined
  readonly Command: RunCommand
  /** The id of the operation. */
  readonly Reply: string
  readonly Launch: never
  readonly State: undefined
  readonly Work: undefined
  readonly Input: never
  readonly Output: undefined
  readonly Limits: unknown
}

/** The fields of an operation that tell whether a run lives. */
interface Dossier {
  readonly state: string
  readonly status?: string
}

/**
 * The dossier of a run that lives.
 *
 * @throws RunAbsent, RunState
 */
const living = (draft: Draft, oid: string, verb: string): void => {
  const read = (...below: ReadonlyArray<string>): unknown =>
    Document.read(draft.visible(Address.make([DOSSIERS, oid, ...below].join("/")).key), [])
  const isNamed = typeof oid === "string" && Name.refusal(oid) === undefined
  const dossier = isNamed ? read() as Dossier | undefined : undefined
  const envelope = dossier === undefined ? undefined : read("envelope") as { readonly verb: string } | undefined
  if (dossier === undefined || envelope?.verb !== VERB) throw new RunAbsent({ oid: String(oid) })
  if (dossier.status !== undefined) throw new RunState({ oid, verb, reason: `it is over (${dossier.status})` })
  if (dossier.state === DEAD) throw new RunState({ oid, verb, reason: "it was given up, and its letter can be sent again" })
}

const commands: Ledger<RunKinds>["commands"] = {
  cancel: {
    runsWhileHalted: false,
    execute: (draft, { how, oid }, beat: LedgerBeat<RunKinds>) => {
      living(draft, oid, "cancel")
      const address = Note.addressOf(oid)
      const note = Note.read(draft.visible(address.key))
      draft.operate([Write.set(address, { ...note, cancel: note.cancel === "now" || how === "now" ? "now" : "await" })])
      beat.resume(oid)
      return oid
    }
  }
}

/**
 * The ledger of durable runs.
 *
 * @category models
 * @since 0.1.0
 */
export const runs: Ledger<RunKinds> = {
  name: "run",
  folders: [Note.FOLDER],
  refusals: [RunAbsent, RunState],
  commands,
  open: () => undefined,
  timers: () => [],
  transaction: () => undefined,
  atCommit: () => {},
  committed: () => undefined
}
