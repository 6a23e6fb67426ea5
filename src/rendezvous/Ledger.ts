/**
 * The ledger of rendezvous: work outside the beat, awaited by entries.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import { below } from "../persistence/Below.ts"
import type { ExpiryRule } from "../ledger/Expiry.ts"
import { whole } from "../ledger/Expiry.ts"
import type { CommandRule, Ledger, LedgerBeat, Opening } from "../ledger/Ledger.ts"
import { CellTimers, type TimerChange } from "../stage/CellTimers.ts"
import type { Due, Now } from "../stage/Due.ts"
import type { Rendezvous } from "../stage/Launch.ts"
import type { RendezvousLaunch } from "../stage/Launches.ts"
import type { CommittedState } from "../stage/BeatClock.ts"
import * as Advance from "./Advance.ts"
import * as Entries from "./Entry.ts"
import { Open } from "./Open.ts"
import { refusals } from "./RendezvousError.ts"
import { nextDue } from "./Transition.ts"
import * as Verbs from "./Verbs.ts"

/** A request from outside. Its value, a specification or telemetry, is a document. */
export type RendezvousCommand =
  & { readonly value?: Document.Document | undefined }
  & (
    | { readonly verb: "spawn" }
    | { readonly verb: "claim"; readonly key: string }
    | { readonly verb: "release"; readonly key: string }
    | { readonly verb: "resched"; readonly key: string; readonly delta: number | string }
    | { readonly verb: "kill"; readonly key: string; readonly mode?: string; readonly wait?: number }
    | { readonly verb: "report"; readonly key: string; readonly proof?: string }
  )

/** The answer to a spawn or a claim. */
export interface SpawnReply {
  readonly key: string
  readonly token: string
}

/** The open entries and their timers. */
interface State {
  readonly open: Open
  readonly timers: CellTimers
}

interface Rv {
  readonly Face: Rendezvous
  readonly Command: RendezvousCommand
  readonly Reply: SpawnReply | undefined
  readonly Launch: RendezvousLaunch
  readonly State: State
  readonly Work: undefined
  readonly Input: never
  readonly Output: undefined
  readonly Limits: unknown
}

type Beat = LedgerBeat<Rv>

/** The context of the verbs. */
const contextOf = (beat: Beat): Verbs.VerbContext => ({
  hash: (text) => beat.hash(text),
  secret: (purpose) => beat.secret(purpose),
  tells: (from, to) => beat.tells(from, to),
  open: () => beat.state.open.size,
  sending: (path) => beat.state.open.sending(path)
})

/** The cell that a command writes, as far as the command determines it. */
const cellOf = (key: unknown): string => Entries.isKey(key) ? Entries.address(key).id : Entries.FOLDER

const keyOf = (spec: Value): unknown => (spec as { readonly key?: unknown } | null | undefined)?.key

/** A command on an existing entry, which checks the entry's lock first. */
const onEntry = <V extends Exclude<RendezvousCommand["verb"], "spawn" | "report">>(
  runsWhileHalted: boolean,
  act: CommandRule<Rv, V>["execute"]
): CommandRule<Rv, V> => ({
  runsWhileHalted,
  execute: (draft, command, beat) => {
    beat.checkLock(cellOf(command.key))
    return act(draft, command, beat)
  }
})

const commands: Ledger<Rv>["commands"] = {
  spawn: {
    runsWhileHalted: false,
    execute: (draft, { value }, beat) => {
      const spec = Document.read(value, [])
      beat.checkLock(cellOf(keyOf(spec)))
      return Verbs.spawn(draft, spec, contextOf(beat))
    }
  },
  claim: onEntry(true, (draft, { key }, beat) => Verbs.claim(draft, key, contextOf(beat))),
  release: onEntry(false, (draft, { key }) => void Verbs.release(draft, key)),
  resched: onEntry(false, (draft, { delta, key }) => void Verbs.resched(draft, key, delta)),
  kill: onEntry(false, (draft, { key, mode, wait }) => void Verbs.kill(draft, key, { mode, wait })),
  report: {
    runsWhileHalted: true,
    execute: (draft, { key, proof, value }, beat) => {
      // Before the lock: a worker with an invalid token must learn nothing about the key.
      if (proof !== undefined) Verbs.prove(draft, key, proof)
      beat.checkLock(cellOf(key))
      Verbs.report(draft, key, Document.read(value, []))
      return undefined
    }
  }
}

const none: ReadonlyArray<Due> = []

const entryOf = (document: Document.Document | undefined): Entries.Entry | undefined => Entries.read(Document.read(document, []))

/** The state of a space after a beat. */
interface After {
  readonly documents: Pick<CommittedState, "read">
  readonly now: Now
}

/** Indexes an entry as of a beat, and sets its timer. */
const see = (key: string, { open, timers }: State, { documents, now }: After): TimerChange => {
  const place = Entries.address(key).key
  const entry = entryOf(documents.read(place))
  open.see(key, entry)
  return timers.see(place, entry === undefined || Entries.isFinished(entry) ? none : nextDue(entry, now))
}

/** The open entries of a store, with their timers. Completed entries are not read. */
const open = ({ documents, store, tempo }: Opening): State => {
  const { beat, clock } = store.head()
  const after = { documents, now: { beat, clock, tempo } }
  const state = { open: new Open(), timers: new CellTimers() }
  for (const place of below(store, Entries.OPEN)) see(place.slice(Entries.OPEN.length + 1), state, after)
  return state
}

/** Sends the events of completions, and reports quarantine. */
const atCommit = (beat: Beat): void => {
  const { due, moment, stage, state } = beat
  if (due.length === 0 && Advance.written(stage).length === 0) return
  for (const key of Advance.quarantined(stage)) {
    beat.diagnose(Diagnostic.of("rv/quarantine", {
      note: `rendezvous ${key} is in quarantine`,
      origin: { kind: "runtime", name: "rendezvous" },
      subject: Entries.address(key)
    }))
  }
  for (const completion of Advance.atCommit(stage, moment, state.open)) beat.send(completion)
}

const isFinished = (entry: Entries.Entry | undefined): entry is Entries.Entry => entry !== undefined && Entries.isFinished(entry)

const expiry: ExpiryRule = {
  kind: "rv",
  order: 0,
  folders: [Entries.FOLDER, Entries.EVENTS],
  ended: ({ address, after, before }) => {
    const key = Entries.keyOf(address.key)
    const entry = key === undefined ? undefined : entryOf(after)
    if (!isFinished(entry)) return undefined
    const earlier = entryOf(before)
    return isFinished(earlier) && earlier.spawn_beat === entry.spawn_beat ? undefined : key
  },
  find: (key, { since }, { stage }) => {
    const place = Entries.address(key).key
    const entry = entryOf(stage.newest(place))
    return isFinished(entry) && entry.spawn_beat <= since ? whole(`${Entries.EVENTS}/${key}`, place) : whole()
  }
}

/**
 * The ledger of rendezvous.
 */
export const rendezvous: Ledger<Rv> = {
  name: "rv",
  folders: [Entries.FOLDER],
  configuration: Entries.DEFAULTS,
  refusals,
  commands,
  open,
  timers: ({ timers }) => timers.all(),
  atCapture: ({ due, moment, stage }) => Advance.atCapture(stage, moment, due),
  transaction: (draft, _, beat) => Verbs.make(draft, contextOf(beat)),
  merge: (launches, _, beat) =>
    beat.amend((draft) => {
      for (const { key } of launches) if (!Verbs.isOver(draft, key)) Verbs.kill(draft, key, { mode: "cancel" })
    }),
  atCommit,
  committed: (beat) => {
    const { due, moment, stage, state } = beat
    for (const key of Advance.touched(stage, due)) beat.reschedule(see(key, state, { documents: stage.committed, now: moment }))
    return undefined
  },
  expiry
}

declare module "../stage/Ledgers.ts" {
  interface Ledgers {
    /** Rendezvous with work outside the beat. */
    readonly rv: Rendezvous
  }
}
