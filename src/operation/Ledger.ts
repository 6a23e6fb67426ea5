/**
 * The ledger of operations: long-running work, each with a dossier.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import { type ExpiryRule, gradual, nameBelow, whole } from "../ledger/Expiry.ts"
import type { CommandRule, Ledger, LedgerBeat, Opening } from "../ledger/Ledger.ts"
import { below } from "../persistence/Below.ts"
import type { Timer } from "../stage/CellTimers.ts"
import type { Draft } from "../stage/Draft.ts"
import { InvalidSignal } from "../stage/OutgoingSignal.ts"
import type { OperationRequest, Operations } from "../stage/Launch.ts"
import type { OperationLaunch, OperationStart } from "../stage/Launches.ts"
import { Advance, type OperationEffects } from "./Advance.ts"
import * as Dossier from "./Dossier.ts"
import { AwaitUnheard, InvalidOperation, OperationAbsent, OperationClosed, OperationHeld, WatchersFull } from "./OperationError.ts"
import * as Verbs from "./Verbs.ts"
import * as Watches from "./Watches.ts"

/** A request from outside, with its value as a document. */
export type OperationCommand =
  & { readonly value?: Document.Document | undefined }
  & (
    | { readonly verb: "start"; readonly request: Omit<OperationRequest, "payload"> }
    | { readonly verb: "state"; readonly oid: string; readonly state: string; readonly code?: number; readonly note?: string }
    | { readonly verb: "await"; readonly oid: string; readonly want: string; readonly signal: string; readonly ttl?: number | string }
    | { readonly verb: "close"; readonly oid: string; readonly status: string }
  )

/** The operations of one beat, and the result of their commit. */
interface Work {
  readonly advance: Advance
  advanced: OperationEffects | undefined
}

interface Op {
  readonly Face: Operations
  readonly Command: OperationCommand
  /** The id of the operation. */
  readonly Reply: string
  readonly Launch: OperationLaunch | OperationStart
  readonly State: Watches.Watches
  readonly Work: Work
  readonly Input: never
  readonly Output: undefined
  readonly Limits: unknown
}

type Beat = LedgerBeat<Op>

/** A command on an existing operation. */
const onOperation = <V extends Exclude<OperationCommand["verb"], "start">>(
  act: (draft: Draft, command: OperationCommand & { readonly verb: V }, beat: Beat) => void
): CommandRule<Op, V> => ({
  runsWhileHalted: true,
  execute: (draft, command, beat) => {
    act(draft, command, beat)
    return command.oid
  }
})

const commands: Ledger<Op>["commands"] = {
  start: { runsWhileHalted: true, execute: (draft, { request, value }) => Verbs.start(draft, request, value) },
  state: onOperation((draft, command) => Verbs.setState(draft, { ...command, oid: Verbs.requireOwned(command.oid) })),
  await: onOperation((draft, command, beat) =>
    Verbs.watch(draft, { ...command, payload: command.value }, {
      enzyme: Dossier.OUTSIDE,
      hears: (signal, target) => beat.hears(signal, target),
      open: () => beat.state.size
    })),
  close: onOperation((draft, command) => Verbs.close(draft, { ...command, oid: Verbs.requireOwned(command.oid), summary: command.value }))
}

const workOf = (beat: Beat): Work => beat.work ??= { advance: new Advance(beat.stage, beat.moment, beat.state), advanced: undefined }

/** Sends continuations and time-outs, reports the time-outs, and binds awaiting enzymes. */
const atCommit = (beat: Beat): void => {
  const { due, state } = beat
  if (beat.work === undefined && due.length === 0) return
  const work = workOf(beat)
  const advanced = work.advance.finish(due.flatMap((key) => state.get(...placeOf(key)) ?? []))
  work.advanced = advanced
  for (const { watch: { enzyme, oid, want }, why } of advanced.lost) {
    beat.diagnose(Diagnostic.of("ops/watchers", {
      code: `ops/${why}`,
      note: why === "timeout" ? `watcher timeout on oid=${oid} want=${want}` : `watcher of closed oid=${oid} can never have want=${want}`,
      origin: { kind: "enzyme", name: enzyme },
      subject: Dossier.address(oid)
    }))
  }
  for (const { enzyme, ...sent } of advanced.sent) beat.send({ ...sent, awaits: enzyme })
  for (const { awaits, enzyme, oid } of advanced.attention) beat.bind({ awaits, enzyme, cell: Dossier.address(oid).id })
}

/** Starts the dossier of another ledger, unless it exists. */
const start = ({ oid, target, verb }: OperationStart, beat: Beat): void => {
  if (beat.stage.newest(Dossier.address(oid).key) !== undefined) return
  beat.amend((draft) => void Verbs.start(draft, { verb, target, mode: "opm:states", oid }, undefined))
}

/** The operation and the number of a watcher, from the key of its cell. */
const placeOf = (key: string): readonly [oid: string, number: number] => {
  const [oid = "", , name = ""] = key.slice(Dossier.FOLDER.length + 1).split("/")
  return [oid, Dossier.numberOf(name)]
}

const keyOf = ([oid, number]: readonly [oid: string, number: number]): string => Dossier.watcherAddress(oid, number).key

const none: ReadonlyArray<Timer> = []

const committed = (beat: Beat): undefined => {
  const { moment, state, work } = beat
  if (work?.advanced === undefined) return
  const { gone, opened } = work.advanced
  for (const watch of gone) {
    state.remove(watch)
    if (watch.timer !== undefined) beat.reschedule({ gone: [watch.timer], next: none })
  }
  for (const watch of opened) {
    state.add(watch)
    const timer = Watches.timed(watch, moment.tempo)
    if (timer !== undefined) beat.reschedule({ gone: none, next: [timer] })
  }
}

/** The open watchers. Only operations with bindings are read, because every open watcher binds its enzyme. */
const open = ({ bindings, documents, store, tempo }: Opening): Watches.Watches => {
  const watches = new Watches.Watches()
  for (const cell of bindings.cells()) {
    if (!cell.startsWith(`${Dossier.FOLDER}/`)) continue
    const oid = cell.slice(Dossier.FOLDER.length + 1)
    const folder = `${cell}/watchers`
    for (const key of below(store, folder)) {
      const name = key.slice(folder.length + 1)
      if (name.includes("/")) continue
      const watch = Watches.watch(oid, Dossier.numberOf(name), Document.read(documents.read(key), []) as unknown as Dossier.Watcher)
      Watches.timed(watch, tempo)
      watches.add(watch)
    }
  }
  return watches
}

const isClosed = (document: Document.Document | undefined): boolean => Dossier.live(Document.read(document, []))?.status !== undefined

const expiry: ExpiryRule = {
  kind: "op",
  order: 2,
  folders: [Dossier.FOLDER],
  ended: ({ address, after, before }) => {
    const oid = nameBelow(Dossier.FOLDER, address.key)
    return oid !== undefined && isClosed(after) && !isClosed(before) ? oid : undefined
  },
  find: (oid, found, state) => {
    const { id, key } = Dossier.address(oid)
    // A run that a rollback took back may have started over.
    if (!isClosed(state.stage.newest(key))) return whole()
    return gradual({ folder: id, many: `${id}/history`, key }, found, state)
  }
}

/**
 * The ledger of operations.
 */
export const operations: Ledger<Op> = {
  name: "op",
  folders: [Dossier.FOLDER],
  refusals: [InvalidOperation, OperationAbsent, OperationClosed, OperationHeld, AwaitUnheard, WatchersFull, InvalidSignal],
  commands,
  open,
  timers: (watches) => watches.timers(),
  urgentTimers: { encode: placeOf, decode: (place) => keyOf(place as readonly [string, number]) },
  transaction: (draft, { name }, beat) =>
    Verbs.make(draft, {
      enzyme: name,
      hears: (signal, target) => beat.hears(signal, target, name),
      open: () => beat.state.size
    }),
  merge: (launches, by, beat) => {
    const changes: Array<OperationLaunch> = []
    for (const launch of launches) {
      if (launch.kind === "start") start(launch, beat)
      else changes.push(launch)
    }
    if (changes.length > 0) workOf(beat).advance.merge(changes, by)
  },
  atCommit,
  committed,
  expiry
}

declare module "../stage/Ledgers.ts" {
  interface Ledgers {
    /** Long-running operations. */
    readonly op: Operations
  }
}
