/**
 * The board: which runs are under way, in memory that another thread can read.
 *
 * The thread of the runs writes it without waiting; the watchdog reads it while
 * that thread never comes back. One place is of the run that has the thread, the
 * others are of runs that wait for the outside. A place has a version, which is
 * odd while the run is under way. The writes are plain ones, since what is read
 * counts only where it stood still for long.
 *
 * @module
 */

/** Runs that wait for the outside and are on the board at once; those beyond are not watched. */
const WAITING = 63

/** Places, the first of which is of the run that has the thread. */
const PLACES = WAITING + 1

/** Most characters of a name or an id. */
const MAX_TEXT = 256

/** The words of a place: its version, what was begun in it, the limit in milliseconds, the lengths of its texts, and the beat in two parts. */
const VERSION = 0
const PROGRESS = 1
const LIMIT = 2
const LENGTHS = 3
const BEAT = 7
const HEAD = 9

/** The texts of a place. */
const SPACE = 0
const ENZYME = 1
const EVENT = 2
const NODE = 3
const TEXTS = 4

/** Words of a place, and of the board before its places. */
const PLACE = HEAD + TEXTS * MAX_TEXT / 2
const FRONT = 2

/** The words before the places: the end was asked for; a debugger may hold the thread. */
const STOPPING = 0
const DEBUGGED = 1

/** Milliseconds that a node, or what an effect is told, may take. */
const NODE_MILLIS = 1000

/** The part of a handling that a beat writes. */
export interface Shown {
  readonly key: string
  readonly beat: number
  readonly flight: { readonly signal: { readonly id: string } }
  readonly entry: { readonly enzyme: { readonly limitMs: number } } | undefined
}

/**
 * A run that is under way, as the board shows it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  /** The place on the board; 0 is of the run that has the thread. */
  readonly place: number
  /** Differs as soon as another run, or another node in it, is under way. */
  readonly progress: number
  readonly limitMs: number
  readonly space: string
  readonly beat: number
  /** Empty where no handling runs. */
  readonly enzyme: string
  readonly event: string
  /** Empty where no node runs. */
  readonly node: string
}

/**
 * A run that was under way when a process ended: of an enzyme at an event, or of a node.
 *
 * @category models
 * @since 0.1.0
 */
export type Mark =
  | { readonly beat: number; readonly enzyme: string; readonly event: string }
  | {
    readonly beat: number
    readonly node: string
    /** How many processes in a row ended in it. */
    readonly ends: number
    /** The digest of its module, where that is known: another one runs. */
    readonly code?: string | undefined
    /** Whether it failed for that already, and is tried once more. */
    readonly isSettled?: true
  }

/**
 * The board of one process.
 *
 * @category models
 * @since 0.1.0
 */
export class RunBoard {
  readonly memory: SharedArrayBuffer
  private readonly words: Int32Array
  private readonly texts: Uint16Array
  /** The content of the first place, so that it is not written again. */
  private readonly written = ["", "", "", ""]

  constructor(memory = new SharedArrayBuffer(4 * (FRONT + PLACES * PLACE))) {
    this.memory = memory
    this.words = new Int32Array(memory)
    this.texts = new Uint16Array(memory)
  }

  /** A handling has the thread from now on. */
  enter(space: string, { beat, entry, flight, key }: Shown): void {
    const { words } = this
    this.put(SPACE, space)
    this.put(ENZYME, key)
    this.put(EVENT, flight.signal.id)
    this.put(NODE, "")
    words[FRONT + LIMIT] = entry?.enzyme.limitMs ?? NODE_MILLIS
    this.begin(beat)
  }

  /** A node has the thread from now on; answers the one that it interrupts, or none. */
  enterNode(space: string, beat: number, node: string): string {
    const { words } = this
    const outer = this.written[NODE]!
    if ((words[FRONT + VERSION]! & 1) === 0) {
      this.put(SPACE, space)
      this.put(ENZYME, "")
      this.put(EVENT, "")
      this.put(NODE, node)
      words[FRONT + LIMIT] = NODE_MILLIS
      this.begin(beat)
      return ""
    }
    this.put(NODE, node)
    words[FRONT + PROGRESS] = words[FRONT + PROGRESS]! + 1
    return outer
  }

  /** The node is over: the one that it interrupted goes on, or the handling, or neither. */
  leaveNode(outer: string): void {
    const { words } = this
    this.put(NODE, outer)
    words[FRONT + PROGRESS] = words[FRONT + PROGRESS]! + 1
    if (outer === "" && this.written[ENZYME] === "") this.leave()
  }

  /** No run has the thread any more. */
  leave(): void {
    const { words } = this
    const version = words[FRONT + VERSION]!
    if ((version & 1) === 1) words[FRONT + VERSION] = version + 1
  }

  /** The run that has the thread waits for the outside from now on; answers its place, where there is room for it. */
  wait(): number | undefined {
    const { words } = this
    for (let place = 1; place < PLACES; place++) {
      const at = FRONT + place * PLACE
      const version = words[at + VERSION]!
      if ((version & 1) === 1) continue
      words.copyWithin(at + 1, FRONT + 1, FRONT + PLACE)
      words[at + VERSION] = version + 1
      this.leave()
      return place
    }
    this.leave()
    return undefined
  }

  /** The run that waited is over. */
  done(place: number): void {
    const at = FRONT + place * PLACE + VERSION
    this.words[at] = this.words[at]! + 1
  }

  /** The process is to end, within the limit for that. */
  stop(): void {
    Atomics.store(this.words, STOPPING, 1)
  }

  get isStopping(): boolean {
    return Atomics.load(this.words, STOPPING) === 1
  }

  /** Whether a debugger may hold the thread: then nothing is ended. */
  set isDebugged(isDebugged: boolean) {
    this.words[DEBUGGED] = isDebugged ? 1 : 0
  }

  get isDebugged(): boolean {
    return Atomics.load(this.words, DEBUGGED) === 1
  }

  /** The runs that are under way, that which has the thread first. */
  runs(): ReadonlyArray<Run> {
    const runs: Array<Run> = []
    for (let place = 0; place < PLACES; place++) {
      const run = this.read(place)
      if (run !== undefined) runs.push(run)
    }
    return runs
  }

  /** The content of a place; `undefined` where it changes meanwhile. */
  private read(place: number): Run | undefined {
    const { words } = this
    const at = FRONT + place * PLACE
    const version = Atomics.load(words, at + VERSION)
    if ((version & 1) === 0) return undefined
    const progress = words[at + PROGRESS]!
    const run = {
      place,
      progress: version * 2 ** 20 + progress,
      limitMs: words[at + LIMIT]!,
      space: this.text(at, SPACE),
      beat: words[at + BEAT]! * 2 ** 31 + words[at + BEAT + 1]!,
      enzyme: this.text(at, ENZYME),
      event: this.text(at, EVENT),
      node: this.text(at, NODE)
    }
    return Atomics.load(words, at + VERSION) === version && words[at + PROGRESS] === progress ? run : undefined
  }

  private begin(beat: number): void {
    const { words } = this
    words[FRONT + BEAT] = Math.floor(beat / 2 ** 31)
    words[FRONT + BEAT + 1] = beat % 2 ** 31
    words[FRONT + PROGRESS] = 0
    // Another one than before, though that was never left.
    words[FRONT + VERSION] = (words[FRONT + VERSION]! + 2) | 1
  }

  /** Writes a text of the first place, unless it stands there. */
  private put(which: number, text: string): void {
    if (this.written[which] === text) return
    this.written[which] = text
    const { texts } = this
    const length = Math.min(text.length, MAX_TEXT)
    const start = 2 * (FRONT + HEAD) + which * MAX_TEXT
    for (let i = 0; i < length; i++) texts[start + i] = text.charCodeAt(i)
    this.words[FRONT + LENGTHS + which] = length
  }

  private text(at: number, which: number): string {
    const start = 2 * (at + HEAD) + which * MAX_TEXT
    return String.fromCharCode(...this.texts.subarray(start, start + Math.min(this.words[at + LENGTHS + which]!, MAX_TEXT)))
  }
}

/**
 * The runs that hold the thread: the one that has it, or, where none has, all that wait and are over their limits.
 *
 * @category getters
 * @since 0.1.0
 */
export const blamed = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const first = runs.find(({ place }) => place === 0)
  return first === undefined ? runs : [first]
}

/**
 * What was noted of a space, and a run that is under way in it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const marked = ({ beat, enzyme, event, node }: Run, marks: ReadonlyArray<Mark>): ReadonlyArray<Mark> => {
  // What was noted before the run began is of this beat.
  if (node === "") return [...marks.filter((mark) => !("event" in mark) || mark.event !== event || mark.enzyme !== enzyme), { beat, enzyme, event }]
  const before = marks.find((mark) => "node" in mark && mark.node === node) as Extract<Mark, { readonly node: string }> | undefined
  return [...marks.filter((mark) => mark !== before), { beat, node, ends: (before?.ends ?? 0) + (before?.beat === beat ? 0 : 1), code: before?.code }]
}
