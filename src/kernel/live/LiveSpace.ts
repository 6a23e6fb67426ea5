/**
 * An open space: its parts over its state, with its lifetime.
 *
 * @module
 */
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { LiveHost as LedgerHost } from "../../ledger/Ledger.ts"
import type { Look } from "../../ledger/Outside.ts"
import type * as LargeContent from "../../persistence/LargeContent.ts"
import { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Turn } from "../model/Pacemaker.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"
import type { LiveSources } from "../view/BeatView.ts"
import { ClearedView } from "../view/ClearedView.ts"
import { CountedRows } from "../view/CountedRows.ts"
import { FlushedReads } from "../view/FlushedReads.ts"
import { HistorySession } from "../view/HistorySession.ts"
import { type FrameOf, Pins } from "../view/Pins.ts"
import { LiveQueries } from "../view/LiveQueries.ts"
import type { PageTurns } from "../view/PageTurns.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type { Viewer } from "../view/Space.ts"
import { CommandQueue } from "./CommandQueue.ts"
import { Contents } from "./Contents.ts"
import type { ResolvePeer } from "./Delivery.ts"
import { EventReceipts } from "./EventReceipts.ts"
import { Listeners } from "./Listeners.ts"
import { GroupTelemetry } from "./GroupTelemetry.ts"
import * as LiveHost from "./LiveHost.ts"
import { Lifetime } from "./Lifetime.ts"
import { LiveLedgers } from "./LiveLedgers.ts"
import { OpenRuns } from "./OpenRuns.ts"
import { OutboxRelay } from "./OutboxRelay.ts"
import { Publication } from "./Publication.ts"
import { SignalPosts } from "./SignalPosts.ts"
import { StorePruning } from "./StorePruning.ts"
import { StoreUpgrade } from "./StoreUpgrade.ts"
import { LiveLists } from "./LiveLists.ts"

/** The dependencies of an open space. */
interface Dependencies {
  readonly turn: Turn
  readonly pages: PageTurns
  readonly resolvePeer: ResolvePeer
  /** Called when it is idle, and when it stopped for good: with the error unless it was closed, and its progress. */
  readonly rested: () => void
  readonly stopped: (space: LiveSpace, end: { readonly error: SpaceStopped | undefined; readonly hasAdvanced: boolean }) => void
  /** Called on each use from outside. */
  readonly used: () => void
  readonly readerState: ReaderState
  readonly contents: LargeContent.ContentStore | undefined
  /** Makes the frames of jobs. */
  readonly frame: FrameOf | undefined
}

/**
 * The parts of an open space. `SpaceClient` is its API.
 */
export class LiveSpace {
  readonly name: string
  readonly barrier: OutputBarrier
  readonly group: GroupCommit
  readonly commands: CommandQueue
  readonly contents: Contents
  /** The derived cells, as views of the graph see them. */
  readonly graph: Pick<LiveState["derivation"], "failed" | "inspector" | "page">
  readonly history: HistorySession
  readonly lifetime: Lifetime
  readonly listeners: Listeners
  readonly lists: LiveLists
  /** The space, as commands that prove something look at it. */
  readonly look: Look
  readonly publication: Publication
  readonly queries: LiveQueries
  readonly reads: FlushedReads
  /** The space as a reader sees it. */
  readonly reader: (clearance: Viewer) => ClearedView
  readonly receipts: EventReceipts
  readonly runs: OpenRuns
  readonly signals: SignalPosts
  /** The store as such: its format, its pins, and the removal of old beats. */
  readonly storage: { readonly pins: Pins; readonly pruning: StorePruning; readonly upgrade: StoreUpgrade }

  constructor(state: LiveState, deps: Dependencies) {
    this.name = state.space
    this.graph = state.derivation
    this.look = state
    this.runs = new OpenRuns(state)
    const telemetry = new GroupTelemetry(state)
    const group = this.group = new GroupCommit(state, deps.turn, {
      begins: () => {
        telemetry.begins()
        this.publication.begins()
      },
      appended: (beat) => this.publication.appended(beat),
      published: (beat) => {
        telemetry.published(beat)
        this.publication.published(beat)
      },
      flushed: () => telemetry.flushed(),
      rested: deps.rested,
      stopped: (error) => {
        const { isClosed } = this.lifetime
        telemetry.stopped(isClosed ? undefined : error)
        deps.stopped(this, { error: isClosed ? undefined : error, hasAdvanced: this.barrier.hasAdvanced })
        if (!isClosed) state.reporter.report(UnexpectedFailure.of(error))
        this.publication.stopped(error)
      }
    })
    const barrier = this.barrier = group.barrier
    const reads = this.reads = new FlushedReads(barrier, { turns: deps.pages, rows: new CountedRows(state.store) })
    const receipts = this.receipts = new EventReceipts(state, { barrier, reads })
    const lists = this.lists = new LiveLists(state, reads)
    const signals = this.signals = new SignalPosts(state, { barrier, receipts, used: deps.used })
    const commands = this.commands = new CommandQueue(state, { barrier, group })
    this.storage = {
      pins: new Pins(state, { barrier, reads, turn: deps.turn, fork: state.host.fork }),
      pruning: new StorePruning(state, { barrier, reads }),
      upgrade: new StoreUpgrade(state, { barrier, group, reads })
    }
    const history = this.history = new HistorySession(state, { barrier, reads, turn: deps.turn })
    const listeners = this.listeners = new Listeners(barrier)
    const live: LiveSources = { receipt: (id) => receipts.find(id), view: (id) => this.publication.view(id) }
    const queries = this.queries = new LiveQueries({ state, group, reads, live, whenEnded: (tell) => listeners.whenEnded(tell) })
    const contents = this.contents = new Contents(state, { barrier, reads, store: deps.contents })
    const { uploads } = contents
    const cleared = { state, readerState: deps.readerState, contents, lists, queries, receipts, signals }
    this.reader = (clearance) => new ClearedView(cleared, clearance)
    const { frame: frameOf } = deps
    const frame: LedgerHost["frame"] = frameOf && ((parts) => this.storage.pins.pieces(frameOf, parts))
    const ledgers = new LiveLedgers(state, LiveHost.make(state, { commands, frame, group, uploads }))
    const outbox = new OutboxRelay(state, { resolvePeer: deps.resolvePeer, barrier, group })
    const publication = this.publication = new Publication(state, { group, ledgers, listeners, outbox, queries, receipts })
    this.lifetime = new Lifetime(state, { barrier, group, history, publication, uploads, used: deps.used })
    // A damaged store may stop the space at once, which calls all its parts.
    outbox.begin()
    group.open()
  }
}
