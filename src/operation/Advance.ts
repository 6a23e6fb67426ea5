/**
 * Advance: what a beat makes of its operations.
 *
 * As each run is merged, its entries get their numbers, and a step arms those
 * who wait for it, at that moment: they hear of it even if the state has gone on
 * when the beat ends. When all runs are merged, armed watchers get their
 * continuations, then those whose time is over get `/op/tmo`; and so do those
 * whose wish a closed operation can never fulfil. (Seed 000, "OPS/STATES";
 * semantics, section 4.2; architecture, section 1.1, step 10.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { OperationLaunch } from "../stage/Launches.ts"
import { COMMIT, type Stage } from "../stage/Stage.ts"
import * as Dossier from "./Dossier.ts"
import * as Verbs from "./Verbs.ts"
import * as Vocabulary from "./Vocabulary.ts"
import * as Watches from "./Watches.ts"

/** A signal that a watcher gets when it is gone. */
export interface Sent {
  readonly id: string
  readonly signal: string
  readonly target: string
  readonly payload: Document.Document | undefined
  /** The enzyme that awaits it. */
  readonly enzyme: string
  /** How many signals led to it. */
  readonly depth: number
}

/** A watcher that got what it did not wait for. */
export interface Lost {
  readonly watch: Watches.Watch
  readonly why: "timeout" | "closed"
}

/** An enzyme that begins or ends to await something at an operation. */
export interface Attention {
  readonly oid: string
  readonly enzyme: string
  readonly awaits: boolean
}

/** What a beat did. */
export interface Advanced {
  readonly sent: ReadonlyArray<Sent>
  readonly lost: ReadonlyArray<Lost>
  readonly attention: ReadonlyArray<Attention>
  /** Watchers that are open from now on, and those that are not any more. */
  readonly opened: ReadonlyArray<Watches.Watch>
  readonly gone: ReadonlyArray<Watches.Watch>
}

/** Who asks, and how many signals led to that. */
interface Asker {
  readonly run: number
  readonly depth: number
}

/** How an operation stands as the launches are gone through, and how its entries are numbered. */
interface Standing {
  state: string
  status: string | undefined
  beat: number
}

interface Numbers {
  history: number
  watcher: number
}

const nothing: Advanced = { sent: [], lost: [], attention: [], opened: [], gone: [] }

/**
 * The operations of one beat.
 *
 * @category models
 * @since 0.1.0
 */
export class Advance {
  private readonly stage: Stage
  private readonly moment: { readonly beat: number; readonly now: number }
  private readonly watches: Watches.Watches
  private readonly standings = new Map<string, Standing>()
  private readonly opened = new Map<string, Array<Watches.Watch>>()
  /** Those that get their continuations, each with the depth of whoever armed it. */
  private readonly armed = new Map<Watches.Watch, number>()

  constructor(stage: Stage, moment: { readonly beat: number; readonly now: number }, watches: Watches.Watches) {
    this.stage = stage
    this.moment = moment
    this.watches = watches
  }

  /** Takes in what a run, or the capture, asked for, after its writes were merged. */
  merge(launches: ReadonlyArray<OperationLaunch>, asker: Asker): void {
    const numbers = this.numbersOf(launches)
    for (const launch of launches) {
      const next = numbers.get(launch.oid)!
      if (launch.kind === "await") this.open(launch, { number: next.watcher++, asker })
      else this.stand(launch, { next, asker })
    }
  }

  /** The numbers that are free: the run's own writes have moved the counters on by as many as it asks for. */
  private numbersOf(launches: ReadonlyArray<OperationLaunch>): ReadonlyMap<string, Numbers> {
    const numbers = new Map<string, Numbers>()
    for (const launch of launches) {
      let own = numbers.get(launch.oid)
      if (own === undefined) {
        const { hist_next, wtch_next } = this.live(launch.oid)
        own = { history: hist_next, watcher: wtch_next }
        numbers.set(launch.oid, own)
      }
      if (launch.kind === "await") own.watcher--
      else if (launch.kind === "state" || launch.entry) own.history--
    }
    return numbers
  }

  private stand(launch: Exclude<OperationLaunch, { readonly kind: "await" }>, { asker, next }: { readonly next: Numbers; readonly asker: Asker }): void {
    const { oid, state } = launch
    const standing = this.standingOf(oid)
    const isEntry = launch.kind === "state" || launch.entry
    if (standing.state === state && standing.beat === this.moment.beat) {
      // Another run of the beat made this entry already: its number goes back.
      if (isEntry) this.stage.add(Address.into(Dossier.address(oid), ["hist_next"]), -1)
    } else if (isEntry) this.stage.put(Dossier.historyAddress(oid, next.history++), Verbs.historyEntry(this.moment.beat, launch), asker.run)
    standing.state = state
    standing.beat = this.moment.beat
    this.arm(oid, state, asker)
    if (launch.kind === "state") return
    standing.status = launch.status
    this.arm(oid, launch.status, asker)
  }

  private open(launch: Extract<OperationLaunch, { readonly kind: "await" }>, { asker, number }: { readonly number: number; readonly asker: Asker }): void {
    const { enzyme, oid, payload, ttl, want } = launch
    const { beat, now } = this.moment
    const place = Dossier.watcherAddress(oid, number)
    this.stage.put(place, Verbs.watcherEntry(this.moment, launch, place), asker.run)
    if (payload !== undefined) this.stage.put(Dossier.payloadOf(place), payload, asker.run)
    const watch: Watches.Watch = { oid, number, want, enzyme, deadline: ttl === 0 ? 0 : beat + ttl, since: { beat, clock: now }, gone: false }
    const here = this.opened.get(oid)
    if (here === undefined) this.opened.set(oid, [watch])
    else here.push(watch)
    if (Vocabulary.isMet(want, this.standingOf(oid))) this.armed.set(watch, asker.depth)
  }

  private arm(oid: string, word: string, { depth }: Asker): void {
    for (const watch of this.watches.wanting(oid, word)) if (!this.armed.has(watch)) this.armed.set(watch, depth)
    for (const watch of this.opened.get(oid) ?? []) if (watch.want === word && !this.armed.has(watch)) this.armed.set(watch, depth)
  }

  /** How an operation stood before this beat's first launch. */
  private standingOf(oid: string): Standing {
    let standing = this.standings.get(oid)
    if (standing === undefined) {
      const before = this.stage.committed.read(Dossier.address(oid).key)
      // One that begins in this beat is in its first state, and has an entry of that.
      const { beat, state, status } = before === undefined ? { state: Vocabulary.RUNNING, status: undefined, beat: this.moment.beat } : Dossier.live(Document.read(before, []))!
      standing = { beat, state, status }
      this.standings.set(oid, standing)
    }
    return standing
  }

  private live(oid: string): Dossier.Live {
    return Dossier.live(Document.read(this.stage.newest(Dossier.address(oid).key), []))!
  }

  /** Ends the beat: sends what is to be sent, and takes the watchers away that got it. `due` are those whose time is over. */
  finish(due: ReadonlyArray<Watches.Watch>): Advanced {
    if (this.standings.size === 0 && due.length === 0) return nothing
    const armed = [...this.armed.keys()].sort(Watches.inOrder)
    const lost = this.lost(due)
    const gone = [...armed, ...lost.map(({ watch }) => watch)]
    const sent = [
      ...armed.map((watch) => ({ watch, timeout: false })),
      ...lost.map(({ watch }) => ({ watch, timeout: true }))
    ].map(({ timeout, watch }, i) => this.sentTo(watch, { timeout, id: `${this.moment.beat}.op.${i}` }))
    this.close(gone)
    const left = new Set(gone)
    const opened = [...this.opened.values()].flat()
    const attention = this.attention(opened, gone)
    return { sent, lost, attention, gone, opened: opened.filter((watch) => !left.has(watch)) }
  }

  private lost(due: ReadonlyArray<Watches.Watch>): ReadonlyArray<Lost> {
    const lost = new Map<Watches.Watch, Lost>()
    for (const watch of due) if (!watch.gone && !this.armed.has(watch)) lost.set(watch, { watch, why: "timeout" })
    for (const [oid, { status }] of this.standings) {
      if (status === undefined) continue
      for (const watch of [...this.watches.of(oid), ...this.opened.get(oid) ?? []]) {
        if (!this.armed.has(watch) && !lost.has(watch)) lost.set(watch, { watch, why: "closed" })
      }
    }
    return [...lost.values()].sort((a, b) => Watches.inOrder(a.watch, b.watch))
  }

  private sentTo(watch: Watches.Watch, { id, timeout }: { readonly id: string; readonly timeout: boolean }): Sent {
    const place = Dossier.watcherAddress(watch.oid, watch.number)
    const { cont } = Document.read(this.stage.newest(place.key), []) as unknown as Dossier.Watcher
    return {
      id,
      signal: timeout ? Dossier.TIMEOUT : cont,
      target: Dossier.address(watch.oid).key,
      payload: this.stage.newest(Dossier.payloadOf(place).key),
      enzyme: watch.enzyme,
      depth: timeout ? 0 : this.armed.get(watch)! + 1
    }
  }

  /** Takes watchers out of their dossiers. */
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

  /** The enzymes that had no watcher at an operation and have one now, or the other way round. */
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
