/**
 * The sentry of a space: what was under way in it when a process ended, and what
 * is under way now.
 *
 * A space whose process ended without being closed, and without a beat that came
 * to be durable, is on probation: each run is noted durably before it begins,
 * until the beat that was under way is past. All other runs are on the board
 * alone. (Architecture, section 4.)
 *
 * @module
 */
import type { Mark } from "./Board.ts"
import type { Handling, Outcome } from "./Flight.ts"
import type { Again } from "./Signal.ts"
import * as Stuck from "./Stuck.ts"
import type { Watchdog } from "./Watchdog.ts"

/** Most marks that are kept of one space. */
const MAX_MARKS = 100

/** The space that is watched. */
export interface Watched {
  readonly space: string
  /** The newest durable beat. */
  readonly head: number
  readonly isOpen: (event: string) => boolean
}

type HandlingMark = Extract<Mark, { readonly event: string }>
type NodeMark = Extract<Mark, { readonly node: string }>

/**
 * Watches over the runs of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Sentry {
  private readonly space: string
  private readonly watchdog: Watchdog
  /** Handlings that were under way, and nodes; what a beat settled stays until that is durable. */
  private handlings: ReadonlyArray<HandlingMark>
  private nodes: ReadonlyArray<NodeMark>
  private settledIn: ReadonlyArray<{ readonly mark: Mark; readonly beat: number }> = []
  /** The last beat on probation. */
  private until: number
  private hasBegun = false
  private isNoted: boolean
  private beat = -1
  private readonly isOpen: (event: string) => boolean

  /** `isOpen` tells whether an event waits in the space. */
  constructor({ head, isOpen, space }: Watched, watchdog: Watchdog) {
    this.space = space
    this.isOpen = isOpen
    this.watchdog = watchdog
    const { began, marks } = watchdog.left(space)
    this.handlings = marks.filter((mark) => "event" in mark)
    this.nodes = marks.filter((mark) => "node" in mark)
    this.isNoted = marks.length > 0
    const next = began === head || marks.length > 0 ? head + 1 : -1
    this.until = marks.reduce((until, { beat }) => Math.max(until, beat), next)
  }

  /** Whether this beat runs alone, over input that is durable, and notes each run before it begins. */
  isOnProbation(beat: number): boolean {
    return beat <= this.until
  }

  /** A beat begins on this head. */
  begins(beat: number, head: number): void {
    this.beat = beat
    if (this.hasBegun) return
    this.hasBegun = true
    this.watchdog.begins(this.space, head)
  }

  /** The outcome of a handling that was under way when a process ended. */
  settled(event: string, enzyme: string, again: Again | undefined): Outcome | undefined {
    const mark = this.handlings.find((mark) => mark.event === event && mark.enzyme === enzyme)
    if (mark === undefined) return undefined
    this.settledIn = [...this.settledIn, { mark, beat: this.beat }]
    // The next attempt is noted, too, before it begins.
    this.until = Math.max(this.until, this.beat + 1)
    return Stuck.ended(again)
  }

  /** A handling begins. */
  enter(handling: Handling): void {
    this.watchdog.board.enter(this.space, handling)
    if (handling.why === "stuck" || this.isOnProbation(handling.beat)) this.note({ beat: handling.beat, enzyme: handling.key, event: handling.flight.signal.id })
  }

  /** The handling that began has returned. */
  leave(): void {
    this.watchdog.board.leave()
    if (this.isNoted) this.note()
  }

  /** The handling that began waits for the outside; answers how to say that it is over. */
  wait(): () => void {
    const { board } = this.watchdog
    const place = board.wait()
    return () => {
      if (place !== undefined) board.done(place)
      if (this.isNoted) this.note()
    }
  }

  /** A beat is durable: what it settled is over, and what can come no more is forgotten. */
  passed(beat: number): void {
    if (!this.isNoted) return
    const over = new Set(this.settledIn.filter((settled) => settled.beat <= beat).map(({ mark }) => mark))
    this.settledIn = this.settledIn.filter((settled) => settled.beat > beat)
    // The id of a caller means the same event for ever.
    this.handlings = this.handlings.filter((mark) => !over.has(mark) && (mark.beat > beat || this.isOpen(mark.event) || !mark.event.includes(".")))
    this.nodes = this.nodes.filter((mark) => !over.has(mark))
    this.note()
  }

  /** Writes what was under way, and what is about to be. */
  private note(next?: Mark): void {
    const marks = [...this.handlings, ...this.nodes].slice(-MAX_MARKS)
    const same = next === undefined ? undefined : marks.findIndex((mark) => "event" in mark && "event" in next && mark.event === next.event && mark.enzyme === next.enzyme)
    if (next !== undefined && same === -1) marks.push(next)
    this.isNoted = marks.length > 0
    this.watchdog.note(this.space, marks)
  }
}
