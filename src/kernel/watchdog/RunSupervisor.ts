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
import type { Node, NodeRun, Watcher } from "../../scheduler/Node.ts"
import type { Mark } from "./RunBoard.ts"
import type { Handling, Outcome } from "../model/Flight.ts"
import type { Again } from "../model/Signal.ts"
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

/** A mark that a beat settled, and what it becomes when that is durable. */
interface Settled {
  readonly mark: Mark
  readonly next: NodeMark | undefined
  readonly beat: number
}

/**
 * Watches over the runs of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class RunSupervisor {
  private readonly watched: Watched
  private readonly watchdog: Watchdog
  /** Handlings that were under way, and nodes; what a beat settled stays until that is durable. */
  private handlings: ReadonlyArray<HandlingMark>
  private nodes: ReadonlyArray<NodeMark>
  private settledIn: ReadonlyArray<Settled> = []
  /** The runs under way that are noted, one in another. */
  private under: ReadonlyArray<Mark> = []
  /** The last beat on probation. */
  private until: number
  private hasBegun = false
  private beat = -1

  constructor(watched: Watched, watchdog: Watchdog) {
    this.watched = watched
    this.watchdog = watchdog
    const { head, space } = watched
    const { began, marks } = watchdog.left(space)
    this.handlings = marks.filter((mark) => "event" in mark)
    this.nodes = marks.filter((mark) => "node" in mark)
    const fresh = marks.filter((mark) => !("node" in mark) || mark.isSettled === undefined)
    const next = began === head || fresh.length > 0 ? head + 1 : -1
    this.until = fresh.reduce((until, { beat }) => Math.max(until, beat), next)
  }

  /** Whether this beat runs alone, over input that is durable, and notes each run before it begins. */
  isOnProbation(beat: number): boolean {
    return beat <= this.until
  }

  /** Whether nothing is noted of the space and its next beat is on no probation, so that it can be closed and forgotten. */
  isQuiet(next: number): boolean {
    return this.handlings.length + this.nodes.length + this.settledIn.length + this.under.length === 0 && !this.isOnProbation(next)
  }

  /** A beat begins on this head. */
  begins(beat: number, head: number): void {
    this.beat = beat
    if (this.hasBegun) return
    this.hasBegun = true
    this.watchdog.begins(this.watched.space, head)
  }

  /** The outcome of a handling that was under way when a process ended. */
  settled(event: string, enzyme: string, again: Again | undefined): Outcome | undefined {
    const mark = this.handlings.find((mark) => mark.event === event && mark.enzyme === enzyme)
    if (mark === undefined) return undefined
    this.settle(mark, undefined)
    // The next attempt is noted, too, before it begins.
    this.until = Math.max(this.until, this.beat + 1)
    return Stuck.ended(again)
  }

  /** A handling begins. */
  enter(handling: Handling): void {
    const { beat, flight: { signal }, key, why } = handling
    this.watchdog.board.enter(this.watched.space, handling)
    if (why === "stuck" || this.isOnProbation(beat)) this.begin({ beat, enzyme: key, event: signal.id })
  }

  /** The handling that began has returned. */
  leave(): void {
    this.watchdog.board.leave()
    this.end()
  }

  /** The handling that began waits for the outside; answers how to say that it is over. */
  wait(): () => void {
    const { board } = this.watchdog
    const place = board.wait()
    return () => {
      if (place !== undefined) board.done(place)
      this.end()
    }
  }

  /** Watches the runs of nodes; `codeOf` is the digest of the module that a node is of. */
  watcher(codeOf: (node: Node) => string | undefined): Watcher {
    const { board } = this.watchdog
    return {
      enter: (run) => {
        const { name } = run.node.definition
        if (this.nodes.length > 0) this.refuse(run, codeOf(run.node))
        if (this.isOnProbation(this.beat)) this.begin({ beat: this.beat, node: name, ends: 1 + this.endsOf(name), code: codeOf(run.node) })
        return board.enterNode(this.watched.space, this.beat, name)
      },
      leave: (run, outer) => {
        board.leaveNode(outer)
        if (this.under.length > 0) this.end(this.under.slice(0, -1))
        if (run.body === Stuck.refuse) run.body = run.node.definition.run
        else if (this.nodes.length > 0) this.forgive(run.node.definition.name)
      }
    }
  }

  /** An effect is told what it saw in a beat. */
  tells(effect: string, beat: number): void {
    this.watchdog.board.enterNode(this.watched.space, beat, effect)
  }

  /** The effect was told. */
  told(): void {
    this.watchdog.board.leaveNode("")
  }

  /** A beat is durable: what it settled is over, and what can come no more is forgotten. */
  passed(beat: number): void {
    if (this.handlings.length === 0 && this.settledIn.length === 0) return
    const over = new Map(this.settledIn.filter((settled) => settled.beat <= beat).map(({ mark, next }) => [mark, next]))
    this.settledIn = this.settledIn.filter((settled) => settled.beat > beat)
    // The id of a caller means the same event for ever.
    const isLeft = (mark: HandlingMark) => mark.beat > beat || !mark.event.includes(".") || this.watched.isOpen(mark.event)
    const { handlings, nodes } = this
    this.handlings = handlings.filter((mark) => !over.has(mark) && isLeft(mark))
    this.nodes = nodes.flatMap((mark) => over.has(mark) ? over.get(mark) ?? [] : mark)
    if (over.size > 0 || this.handlings.length < handlings.length) this.write()
  }

  /** A node in which a process ended fails once without being run; after two such ends, until its module is another one. */
  private refuse(run: NodeRun, code: string | undefined): void {
    const { name } = run.node.definition
    const mark = this.nodes.find(({ node }) => node === name)
    if (mark === undefined || mark.isSettled === true) return
    if (mark.code !== undefined && mark.code !== code) return this.settle(mark, undefined)
    run.body = Stuck.refuse
    if (mark.ends === 1) this.settle(mark, { ...mark, code, isSettled: true })
  }

  /** A node in which a process ended was run again, to its end. */
  private forgive(name: string): void {
    const mark = this.nodes.find(({ isSettled, node }) => node === name && isSettled === true)
    if (mark !== undefined) this.settle(mark, undefined)
  }

  /** How many processes ended in a node. */
  private endsOf(name: string): number {
    return this.nodes.find(({ node }) => node === name)?.ends ?? 0
  }

  private settle(mark: Mark, next: NodeMark | undefined): void {
    this.settledIn = [...this.settledIn.filter((settled) => settled.mark !== mark), { mark, next, beat: this.beat }]
  }

  private begin(mark: Mark): void {
    this.under = [...this.under, mark]
    this.write()
  }

  private end(under: ReadonlyArray<Mark> = nothing): void {
    if (this.under.length === 0) return
    this.under = under
    this.write()
  }

  /** Notes what was under way, and the innermost run that is. */
  private write(): void {
    const marks: Array<Mark> = [...this.handlings, ...this.nodes].slice(-MAX_MARKS)
    const under = this.under.at(-1)
    this.watchdog.note(this.watched.space, under === undefined ? marks : [...marks.filter((mark) => !isSame(mark, under)), under])
  }
}

const nothing: ReadonlyArray<Mark> = []

const isSame = (a: Mark, b: Mark): boolean =>
  "node" in a ? "node" in b && a.node === b.node : "event" in b && a.event === b.event && a.enzyme === b.enzyme
