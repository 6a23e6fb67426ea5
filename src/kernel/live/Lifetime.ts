/**
 * The lifetime of an open space: the requests that use it, and its end.
 *
 * @module
 */
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { SpaceStopped } from "../model/SpaceError.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import type { Progress } from "../../persistence/Persistence.ts"
import type { HistorySession } from "../view/HistorySession.ts"
import type { Publication } from "./Publication.ts"
import type { Uploads } from "./Uploads.ts"

/** The members of the state of a space that its lifetime uses. */
type State = Pick<LiveState, "derivation" | "host" | "liveClock" | "mode" | "space" | "store" | "watchdog">

/** The parts of a space with work in progress. */
interface Parts {
  readonly barrier: Pick<OutputBarrier, "durable">
  readonly group: GroupCommit
  readonly history: HistorySession
  readonly publication: Publication
  readonly uploads: Uploads
  /** Called on each use from outside. */
  readonly used: () => void
}

/** The lifetime of one open space. */
export class Lifetime {
  /** Whether it was closed until the next request. */
  isRetired = false
  /** Whether it was closed, and did not stop by itself. */
  isClosed = false
  private readonly state: State
  private readonly parts: Parts
  /** Requests in progress. */
  private uses = 0

  constructor(state: State, parts: Parts) {
    this.state = state
    this.parts = parts
  }

  /** Counts a request in progress until `release`. */
  acquire(): void {
    this.parts.used()
    this.uses++
  }

  release(): void {
    this.uses--
  }

  close(reason: string, isRemoved = false): void {
    this.isClosed = true
    this.parts.group.stop(new SpaceStopped({ space: this.state.space, reason, ...isRemoved ? { isRemoved } : {} }))
  }

  /** Closes it until the next request, or before its data is removed. */
  retire(isRemoved = false): void {
    this.isRetired = true
    this.close(isRemoved ? "it is being removed" : "it is closed, since nothing uses it", isRemoved)
  }

  /** The name of the space with its incarnation. */
  get origin(): string {
    return SpaceMode.origin(this.state.mode, this.state.space)
  }

  /** How far its flushes have come. */
  get progress(): Progress {
    return this.state.store.progress()
  }

  /** The time of its next work by the clock of the host, as {@link GroupCommit.due} defines it. */
  get due(): number | undefined {
    return this.state.liveClock.wakeOf(this.parts.group.due)
  }

  /** Whether it has no users and no work in progress, so that closing it is unnoticed. */
  get isResting(): boolean {
    const { state, parts: { barrier, group, history, publication, uploads }, uses } = this
    const isWaitedFor = uses + uploads.open > 0 || publication.isAwaited
    const isOnProbation = state.watchdog?.isQuiet(barrier.durable + 1) === false
    const isBusy = !group.isResting || isOnProbation || !publication.isQuiet || history.isBusy || state.derivation.inspector.isPaid
    return !isWaitedFor && !isBusy && (group.due ?? Infinity) > state.host.now()
  }
}
