/**
 * The watchdog of a space: the runs in progress now, and at the end of an earlier process.
 *
 * A space is on probation if its process ended without closing it and without a further
 * durable beat. It then marks each run durably before the run begins, until the
 * interrupted beat is past. All other runs are only on the run board.
 *
 * The mark of the watchdog, or of a run that ended its process, is a verdict. A mark of
 * probation is none: a host may end a process during any run. Only at the third such end
 * in a row does the run count as the cause, as one that exhausts the memory does.
 *
 * @module
 */
import type { Node, NodeRun, Watcher } from "../../scheduler/graph/Node.ts"
import type { Mark } from "./RunBoard.ts"
import type { Handling, Outcome } from "../model/InFlight.ts"
import type { Again } from "../model/Signal.ts"
import * as Stuck from "./Stuck.ts"
import type { WatchdogHost } from "./WatchdogHost.ts"

/** Most marks of one space. */
const MAX_MARKS = 100

/** The space whose runs are watched. */
export interface WatchedSpace {
  readonly space: string
  /** The newest durable beat. */
  readonly head: number
  /** The number of the next beat. */
  readonly next: number
  readonly isOpen: (event: string) => boolean
}

/** The ends of processes in a row during a run, without the watchdog, at which the run counts as their cause. */
const UNEXPLAINED = 3

type HandlingMark = Extract<Mark, { readonly event: string }>
type NodeMark = Extract<Mark, { readonly node: string }>

/** A mark with its outcome, and its successor once that outcome is durable. */
interface Concluded {
  readonly mark: Mark
  readonly next: NodeMark | undefined
  readonly beat: number
}

/**
 * Watches the runs of one space.
 */
export class SpaceWatchdog {
  private readonly space: WatchedSpace
  private readonly host: WatchdogHost
  /** Marks of interrupted handlings and nodes. A mark with an outcome stays until that is durable. */
  private handlings: ReadonlyArray<HandlingMark>
  private nodes: ReadonlyArray<NodeMark>
  private concluded: ReadonlyArray<Concluded> = []
  /** The marked runs in progress, outermost first. */
  private under: ReadonlyArray<Mark> = []
  /** The last beat on probation. */
  private until: number
  private hasBegun = false
  private beat = -1

  constructor(space: WatchedSpace, host: WatchdogHost) {
    this.space = space
    this.host = host
    const { head, next: first } = space
    const { began, marks } = host.recordOf(space.space)
    this.handlings = marks.filter((mark) => "event" in mark)
    this.nodes = marks.filter((mark) => "node" in mark).map(judged)
    const fresh = marks.filter((mark) => !("node" in mark) || mark.isSettled === undefined)
    const next = began === head || fresh.length > 0 ? first : -1
    this.until = fresh.reduce((until, { beat }) => Math.max(until, beat), next)
  }

  /** Whether this beat runs alone, over durable input, and marks each run before it begins. */
  isOnProbation(beat: number): boolean {
    return beat <= this.until
  }

  /** Whether the space has no marks and its next beat is not on probation, so that it can be closed. */
  isQuiet(next: number): boolean {
    return this.handlings.length + this.nodes.length + this.concluded.length + this.under.length === 0 && !this.isOnProbation(next)
  }

  /** A beat begins on this head. */
  beginBeat(beat: number, head: number): void {
    this.beat = beat
    if (this.hasBegun) return
    this.hasBegun = true
    this.host.begin(this.space.space, head)
  }

  /** The outcome of a handling that was in progress when a process ended. */
  outcomeOf(event: string, enzyme: string, again: Again | undefined): Outcome | undefined {
    const mark = this.markOf(event, enzyme)
    if (mark === undefined || (mark.under ?? UNEXPLAINED) < UNEXPLAINED) return undefined
    this.conclude(mark, undefined)
    // The next attempt is marked as well before it begins.
    this.until = Math.max(this.until, this.beat + 1)
    return Stuck.endOf(again)
  }

  /** A handling begins. */
  enter(handling: Handling): void {
    const { beat, flight: { signal }, key, why } = handling
    this.host.board.enter(this.space.space, handling)
    if (why !== "stuck" && !this.isOnProbation(beat)) return
    const mark = this.markOf(signal.id, key)
    if (mark !== undefined) this.conclude(mark, undefined)
    // One more end suffices for a run that counted as a cause before.
    const before = why === "stuck" ? UNEXPLAINED - 1 : mark?.under ?? 0
    this.begin({ beat, enzyme: key, event: signal.id, under: before + 1 })
  }

  private markOf(event: string, enzyme: string): HandlingMark | undefined {
    return this.handlings.find((mark) => mark.event === event && mark.enzyme === enzyme)
  }

  /** The current handling has returned. */
  leave(): void {
    this.host.board.leave()
    this.end()
  }

  /**
   * The current handling waits for the outside, or for its own continuation, as a segment of a durable run does. Returns the
   * call for its end.
   */
  wait(isSegment: boolean): () => void {
    const { board } = this.host
    const place = board.wait()
    if (place !== undefined && !isSegment) this.host.afterTurn(board.returning(place))
    return () => {
      if (place !== undefined) board.done(place)
      this.end()
    }
  }

  /** The observer of node runs. `codeOf` is the digest of a node's module. */
  watcher(codeOf: (node: Node) => string | undefined): Watcher {
    const { board } = this.host
    return {
      enter: (run) => {
        const { name } = run.node.definition
        if (this.nodes.length > 0) this.refuse(run, codeOf(run.node))
        if (this.isOnProbation(this.beat)) this.begin(this.nodeMark(name, codeOf(run.node)))
        return board.enterNode(this.space.space, this.beat, name)
      },
      leave: (run, outer) => {
        board.leaveNode(outer)
        if (this.under.length > 0) this.end(this.under.slice(0, -1))
        if (run.body === Stuck.refuse) run.body = run.node.definition.run
        else if (this.nodes.length > 0) this.forgive(run.node.definition.name)
      }
    }
  }

  /** The delivery of an effect begins. */
  enterEffect(effect: string, beat: number): void {
    this.host.board.enterNode(this.space.space, beat, effect)
  }

  /** The delivery of an effect has returned. */
  leaveEffect(): void {
    this.host.board.leaveNode("")
  }

  /** A beat is durable. Removes marks with an outcome, and marks of events that can no longer recur. */
  endBeat(beat: number): void {
    if (this.handlings.length === 0 && this.concluded.length === 0) return
    const over = new Map(this.concluded.filter((past) => past.beat <= beat).map(({ mark, next }) => [mark, next]))
    this.concluded = this.concluded.filter((past) => past.beat > beat)
    // A caller's id means the same event for ever.
    const isLeft = (mark: HandlingMark) => mark.beat > beat || !mark.event.includes(".") || this.space.isOpen(mark.event)
    const { handlings, nodes } = this
    this.handlings = handlings.filter((mark) => !over.has(mark) && isLeft(mark))
    this.nodes = nodes.flatMap((mark) => over.has(mark) ? over.get(mark) ?? [] : mark)
    if (over.size > 0 || this.handlings.length < handlings.length) this.write()
  }

  /** Refuses a node in which a process ended: once after one end, and after two until its module changes. */
  private refuse(run: NodeRun, code: string | undefined): void {
    const { name } = run.node.definition
    const mark = this.nodes.find(({ node }) => node === name)
    if (mark === undefined || mark.isSettled === true || mark.ends === 0) return
    if (mark.code !== undefined && mark.code !== code) return this.conclude(mark, undefined)
    run.body = Stuck.refuse
    if (mark.ends === 1) this.conclude(mark, { ...mark, code, isSettled: true })
  }

  /** Removes the mark of a node that has completed a run. */
  private forgive(name: string): void {
    const mark = this.nodes.find(({ ends, isSettled, node }) => node === name && (isSettled === true || ends === 0))
    if (mark !== undefined) this.conclude(mark, undefined)
  }

  /** The mark of a node that begins on probation. One more end suffices for a node that counted as a cause before. */
  private nodeMark(node: string, code: string | undefined): NodeMark {
    const mark = this.nodes.find((each) => each.node === node)
    const before = mark?.isSettled === true ? UNEXPLAINED - 1 : mark?.under ?? 0
    return { beat: this.beat, node, ends: mark?.ends ?? 0, under: before + 1, code }
  }

  private conclude(mark: Mark, next: NodeMark | undefined): void {
    this.concluded = [...this.concluded.filter((past) => past.mark !== mark), { mark, next, beat: this.beat }]
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

  /** Stores the marks, and the innermost run in progress. */
  private write(): void {
    const marks: Array<Mark> = [...this.handlings, ...this.nodes].slice(-MAX_MARKS)
    const under = this.under.at(-1)
    this.host.note(this.space.space, under === undefined ? marks : [...marks.filter((mark) => !isSame(mark, under)), under])
  }
}

const nothing: ReadonlyArray<Mark> = []

/** The mark of a node, in which enough ends without the watchdog are one that the node caused. */
const judged = (mark: NodeMark): NodeMark => {
  const { under, ...rest } = mark
  return under === undefined || under < UNEXPLAINED ? mark : { ...rest, ends: rest.ends + 1 }
}

const isSame = (a: Mark, b: Mark): boolean =>
  "node" in a ? "node" in b && a.node === b.node : "event" in b && a.event === b.event && a.enzyme === b.enzyme
