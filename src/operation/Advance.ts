/**
 * Advances the operations of one beat.
 *
 * As each run is merged, its history entries and watchers get their numbers. A
 * state change arms the matching watchers at once, so they fire even if the state
 * changes again before the commit. At the commit, armed watchers get their
 * continuations; then expired watchers get `/op/tmo`. So do watchers of a closed
 * operation whose condition can no longer be met [S0 §OPS/STATES Operations].
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Launcher } from "../ledger/Ledger.ts"
import type { OperationLaunch } from "../stage/Launches.ts"
import { COMMIT, type Stage } from "../stage/Stage.ts"
import * as Dossier from "./Dossier.ts"
import * as Verbs from "./Verbs.ts"
import * as Vocabulary from "./Vocabulary.ts"
import * as Watches from "./Watches.ts"

/** A continuation or time-out signal to a watcher that is removed. */
export interface WatchSignal {
  readonly signal: string
  readonly target: string
  readonly payload: Document.Document | undefined
  /** The awaiting enzyme. */
  readonly enzyme: string
  /** The length of the signal chain so far. */
  readonly depth: number
}

/** A watcher that expired, or that can no longer be met because its operation closed. */
export interface LostWatch {
  readonly watch: Watches.Watch
  readonly why: "timeout" | "closed"
}

/** An enzyme that starts or stops awaiting signals at an operation. */
export interface Attention {
  readonly oid: string
  readonly enzyme: string
  readonly awaits: boolean
}

/** The effects of a beat on its operations. */
export interface OperationEffects {
  readonly sent: ReadonlyArray<WatchSignal>
  readonly lost: ReadonlyArray<LostWatch>
  readonly attention: ReadonlyArray<Attention>
  /** Watchers that the beat added, and watchers that it removed. */
  readonly opened: ReadonlyArray<Watches.Watch>
  readonly gone: ReadonlyArray<Watches.Watch>
}

/** The state of an operation while launches are merged. */
interface OperationStatus {
  state: string
  status: string | undefined
}

interface Numbers {
  history: number
  watcher: number
}

/** A launch and the next numbers of its operation, which its launches share. */
interface Numbered {
  readonly launch: OperationLaunch
  readonly next: Numbers
}

const nothing: OperationEffects = { sent: [], lost: [], attention: [], opened: [], gone: [] }

/**
 * The operations of one beat.
 */
export class Advance {
  private readonly stage: Stage
  private readonly moment: { readonly beat: number; readonly clock: number }
  private readonly watches: Watches.Watches
  private readonly statuses = new Map<string, OperationStatus>()
  private readonly opened = new Map<string, Array<Watches.Watch>>()
  /** Watchers to be sent their continuations, each with the depth of the run that armed it. */
  private readonly armed = new Map<Watches.Watch, number>()

  constructor(stage: Stage, moment: { readonly beat: number; readonly clock: number }, watches: Watches.Watches) {
    this.stage = stage
    this.moment = moment
    this.watches = watches
  }

  /** Merges the launches of a run, or of the capture, after its writes. */
  merge(launches: ReadonlyArray<OperationLaunch>, launcher: Launcher): void {
    for (const { launch, next } of this.numbered(launches)) {
      if (launch.kind === "await") this.open(launch, { number: next.watcher++, launcher })
      else this.transition(launch, { next, launcher })
    }
  }

  /**
   * Pairs launches with the first free numbers of their operations. The run's writes have already advanced the counters
   * by the number of its launches.
   */
  private numbered(launches: ReadonlyArray<OperationLaunch>): ReadonlyArray<Numbered> {
    const numbers = new Map<string, Numbers>()
    return launches.map((launch) => {
      let next = numbers.get(launch.oid)
      if (next === undefined) {
        const { hist_next, wtch_next } = this.live(launch.oid)
        next = { history: hist_next, watcher: wtch_next }
        numbers.set(launch.oid, next)
      }
      if (launch.kind === "await") next.watcher--
      else if (launch.kind === "state" || launch.entry) next.history--
      return { launch, next }
    })
  }

  private transition(
    launch: Exclude<OperationLaunch, { readonly kind: "await" }>,
    { launcher, next }: { readonly next: Numbers; readonly launcher: Launcher }
  ): void {
    const { oid, state } = launch
    const current = this.statusOf(oid)
    if (launch.kind === "state" || launch.entry) {
      this.stage.put(Dossier.historyAddress(oid, next.history++), Verbs.historyEntry(this.moment.beat, launch), launcher.run)
    }
    current.state = state
    this.arm(oid, state, launcher)
    if (launch.kind === "state") return
    current.status = launch.status
    this.arm(oid, launch.status, launcher)
  }

  private open(
    launch: Extract<OperationLaunch, { readonly kind: "await" }>,
    { launcher, number }: { readonly number: number; readonly launcher: Launcher }
  ): void {
    const { enzyme, oid, payload, ttl, want } = launch
    const { beat, clock } = this.moment
    const place = Dossier.watcherAddress(oid, number)
    this.stage.put(place, Verbs.watcherEntry(this.moment, launch, place), launcher.run)
    if (payload !== undefined) this.stage.put(Dossier.payloadOf(place), payload, launcher.run)
    const watch: Watches.Watch =
      { oid, number, want, enzyme, deadline: ttl === 0 ? 0 : beat + ttl, since: { beat, clock }, gone: false }
    const here = this.opened.get(oid)
    if (here === undefined) this.opened.set(oid, [watch])
    else here.push(watch)
    if (Vocabulary.isMet(want, this.statusOf(oid))) this.armed.set(watch, launcher.depth)
  }

  private arm(oid: string, word: string, { depth }: Launcher): void {
    for (const watch of this.watches.wanting(oid, word)) if (!this.armed.has(watch)) this.armed.set(watch, depth)
    for (const watch of this.opened.get(oid) ?? []) if (watch.want === word && !this.armed.has(watch)) this.armed.set(watch, depth)
  }

  /** The state of an operation before this beat's first launch. */
  private statusOf(oid: string): OperationStatus {
    let current = this.statuses.get(oid)
    if (current === undefined) {
      const before = this.stage.committed.read(Dossier.address(oid).key)
      // An operation started in this beat is in its first state.
      const { state, status } = before === undefined ? { state: Vocabulary.RUNNING, status: undefined } : liveOf(before)
      current = { state, status }
      this.statuses.set(oid, current)
    }
    return current
  }

  private live(oid: string): Dossier.Live {
    return liveOf(this.stage.newest(Dossier.address(oid).key))
  }

  /** Ends the beat: sends continuations and time-outs, and removes their watchers. `due` are the expired watchers. */
  finish(due: ReadonlyArray<Watches.Watch>): OperationEffects {
    if (this.statuses.size === 0 && due.length === 0) return nothing
    const armed = [...this.armed].sort(([a], [b]) => Watches.inOrder(a, b))
    const lost = this.lost(due)
    const gone = [...armed.map(([watch]) => watch), ...lost.map(({ watch }) => watch)]
    const sent = [
      ...armed.map(([watch, depth]) => ({ watch, depth: depth + 1 })),
      ...lost.map(({ watch }) => ({ watch, depth: 0 }))
    ].map(({ depth, watch }, i) => this.sentTo(watch, { depth, timeout: i >= armed.length }))
    this.close(gone)
    const left = new Set(gone)
    const opened = [...this.opened.values()].flat()
    const attention = this.attention(opened, gone)
    return { sent, lost, attention, gone, opened: opened.filter((watch) => !left.has(watch)) }
  }

  private lost(due: ReadonlyArray<Watches.Watch>): ReadonlyArray<LostWatch> {
    const lost = new Map<Watches.Watch, LostWatch>()
    for (const watch of due) if (!watch.gone && !this.armed.has(watch)) lost.set(watch, { watch, why: "timeout" })
    for (const [oid, { status }] of this.statuses) {
      if (status === undefined) continue
      for (const watch of [...this.watches.of(oid), ...this.opened.get(oid) ?? []]) {
        if (!this.armed.has(watch) && !lost.has(watch)) lost.set(watch, { watch, why: "closed" })
      }
    }
    return [...lost.values()].sort((a, b) => Watches.inOrder(a.watch, b.watch))
  }

  private sentTo(watch: Watches.Watch, { depth, timeout }: Pick<WatchSignal, "depth"> & { readonly timeout: boolean }): WatchSignal {
    const place = Dossier.watcherAddress(watch.oid, watch.number)
    const { cont } = Document.read(this.stage.newest(place.key), []) as unknown as Dossier.Watcher
    return {
      signal: timeout ? Dossier.TIMEOUT : cont,
      target: Dossier.address(watch.oid).key,
      payload: this.stage.newest(Dossier.payloadOf(place).key),
      enzyme: watch.enzyme,
      depth
    }
  }

  /** Removes watchers from their dossiers. */
  private close(gone: ReadonlyArray<Watches.Watch>): void {
    const counts = new Map<string, number>()
    for (const { number, oid } of gone) {
      const place = Dossier.watcherAddress(oid, number)
      const payload = Dossier.payloadOf(place)
      if (this.stage.newest(payload.key) !== undefined) this.stage.put(payload, undefined, COMMIT)
      this.stage.put(place, undefined, COMMIT)
      counts.set(oid, (counts.get(oid) ?? 0) + 1)
    }
    for (const [oid, count] of counts) {
      const address = Dossier.address(oid)
      this.stage.put(address, Document.write(this.stage.newest(address.key), ["watchers"], this.live(oid).watchers - count), COMMIT)
    }
  }

  /** Enzymes whose number of watchers at an operation changed from or to zero. */
  private attention(opened: ReadonlyArray<Watches.Watch>, gone: ReadonlyArray<Watches.Watch>): ReadonlyArray<Attention> {
    const moved = new Map<string, { readonly oid: string; readonly enzyme: string; by: number }>()
    const move = ({ enzyme, oid }: Watches.Watch, by: number): void => {
      const known = moved.get(`${oid} ${enzyme}`)
      if (known === undefined) moved.set(`${oid} ${enzyme}`, { oid, enzyme, by })
      else known.by += by
    }
    for (const watch of opened) move(watch, 1)
    for (const watch of gone) move(watch, -1)
    const attention: Array<Attention> = []
    for (const { by, enzyme, oid } of moved.values()) {
      const before = this.watches.count(oid, enzyme)
      const after = before + by
      if ((before > 0) !== (after > 0)) attention.push({ oid, enzyme, awaits: after > 0 })
    }
    return attention
  }
}

const liveOf = (document: Document.Document | undefined): Dossier.Live => Dossier.live(Document.read(document, []))!
