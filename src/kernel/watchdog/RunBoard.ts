/**
 * The run board: the runs in progress, in memory shared with the watchdog thread.
 *
 * The run thread writes without waiting. Slot 0 is for the run that has the thread; the
 * others are for runs that wait for the outside. A slot has a version, which is odd
 * while its run is in progress. Plain writes suffice, because the watchdog acts only on
 * values that have not changed for long.
 *
 * @module
 */

/** Most waiting runs on the board. Further ones are not watched. */
const WAITING = 63

/** Number of slots. Slot 0 is for the run that has the thread. */
const PLACES = WAITING + 1

/** Most characters of a name or an id. */
const MAX_TEXT = 256

/** Word offsets in a slot: version, progress counter, limit in milliseconds, text lengths, the beat in two words, and the return. */
const VERSION = 0
const PROGRESS = 1
const LIMIT = 2
const LENGTHS = 3
const BEAT = 7
const RETURNED = 9
const HEAD = 10

/** Indexes of the texts of a slot. */
const SPACE = 0
const ENZYME = 1
const EVENT = 2
const NODE = 3
const TEXTS = 4

/** Words of a slot, and of the header before the slots. */
const PLACE = HEAD + TEXTS * MAX_TEXT / 2
const FRONT = 2

/** Words of the header: whether the process is stopping, and whether a debugger may hold the thread. */
const STOPPING = 0
const DEBUGGED = 1

/** Limit in milliseconds of a node's run and of an effect's delivery. */
const NODE_MILLIS = 1000

/** A handling as the board needs it: its ids, its beat and its limit. */
export interface BoardEntry {
  readonly key: string
  readonly beat: number
  readonly flight: { readonly signal: { readonly id: string } }
  readonly entry: { readonly enzyme: { readonly limitMs: number } } | undefined
}

/**
 * A run in progress, as read from the board.
 */
export interface Run {
  /** The slot; 0 for the run that has the thread. */
  readonly place: number
  /** Changes as soon as another run, or another node within it, is in progress. */
  readonly progress: number
  readonly limitMs: number
  readonly space: string
  readonly beat: number
  /** Empty unless a handling runs. */
  readonly enzyme: string
  readonly event: string
  /** Empty unless a node runs. */
  readonly node: string
  /** Whether the thread has returned to the event loop since the run waits, so that other code may hold it now. */
  readonly hasReturned: boolean
}

/**
 * The name of a run for a person: its space, its beat, its enzyme or node, and its event.
 */
export const nameOf = ({ beat, enzyme, event, node, space }: Run): string => {
  const what = [...enzyme === "" ? [] : [`event ${event}`], ...node === "" ? [] : [`node ${node}`]].join(", ")
  return `${space}@${beat} ${enzyme === "" ? node : enzyme}: ${what}`
}

/**
 * A run that was in progress when a process ended: of an enzyme at an event, or of a node.
 */
export type Mark =
  | {
    readonly beat: number
    readonly enzyme: string
    readonly event: string
    /** The successive processes that ended while the run was under way, without the watchdog; absent if the run ended one. */
    readonly under?: number
  }
  | {
    readonly beat: number
    readonly node: string
    /** Number of successive processes that the node ended. */
    readonly ends: number
    /** The successive processes that ended while the node ran, without the watchdog. */
    readonly under?: number
    /** The digest of the node's module, if known. A different digest permits a run. */
    readonly code?: string | undefined
    /** Whether the node has failed for this mark, and gets one more try. */
    readonly isSettled?: true
  }

/**
 * The board of one process.
 */
export class RunBoard {
  readonly memory: SharedArrayBuffer
  private readonly words: Int32Array
  private readonly texts: Uint16Array
  /** The texts of slot 0, so that equal ones are not written again. */
  private readonly written: [string, string, string, string] = ["", "", "", ""]
  /** The version and the progress of slot 0, which this thread alone writes. */
  private version: number
  private progress = 0

  constructor(memory = new SharedArrayBuffer(4 * (FRONT + PLACES * PLACE))) {
    this.memory = memory
    this.words = new Int32Array(memory)
    this.version = Atomics.load(this.words, FRONT + VERSION)
    this.texts = new Uint16Array(memory)
  }

  /** A handling takes the thread. */
  enter(space: string, { beat, entry, flight, key }: BoardEntry): void {
    const { words } = this
    this.put(SPACE, space)
    this.put(ENZYME, key)
    this.put(EVENT, flight.signal.id)
    this.put(NODE, "")
    words[FRONT + LIMIT] = entry?.enzyme.limitMs ?? NODE_MILLIS
    this.begin(beat)
  }

  /** A node takes the thread. Returns the name of the interrupted node, or "". */
  enterNode(space: string, beat: number, node: string): string {
    const { words } = this
    const outer = this.written[NODE]
    if ((this.version & 1) === 0) {
      this.put(SPACE, space)
      this.put(ENZYME, "")
      this.put(EVENT, "")
      this.put(NODE, node)
      words[FRONT + LIMIT] = NODE_MILLIS
      this.begin(beat)
      return ""
    }
    this.put(NODE, node)
    words[FRONT + PROGRESS] = ++this.progress
    return outer
  }

  /** The node returned. The interrupted node or handling continues, if any. */
  leaveNode(outer: string): void {
    this.put(NODE, outer)
    this.words[FRONT + PROGRESS] = ++this.progress
    if (outer === "" && this.written[ENZYME] === "") this.leave()
  }

  /** The thread is idle. */
  leave(): void {
    if ((this.version & 1) === 1) this.words[FRONT + VERSION] = ++this.version
  }

  /** The run in slot 0 waits for the outside. Returns its new slot, or `undefined` if all are taken. */
  wait(): number | undefined {
    const { words } = this
    for (let place = 1; place < PLACES; place++) {
      const at = FRONT + place * PLACE
      const version = Atomics.load(words, at + VERSION)
      if ((version & 1) === 1) continue
      words.copyWithin(at + 1, FRONT + 1, FRONT + PLACE)
      words[at + RETURNED] = 0
      words[at + VERSION] = version + 1
      this.leave()
      return place
    }
    this.leave()
    return undefined
  }

  /** Returns the call after which other code than the waiting run of a slot may hold the thread. */
  returning(place: number): () => void {
    const { words } = this
    const at = FRONT + place * PLACE
    const version = words[at + VERSION]
    return () => {
      if (words[at + VERSION] === version) words[at + RETURNED] = 1
    }
  }

  /** The waiting run of a slot is over. */
  done(place: number): void {
    Atomics.add(this.words, FRONT + place * PLACE + VERSION, 1)
  }

  /** The process is to end within the limit for shutdown. */
  stop(): void {
    Atomics.store(this.words, STOPPING, 1)
  }

  get isStopping(): boolean {
    return Atomics.load(this.words, STOPPING) === 1
  }

  /** Whether a debugger may hold the thread. The watchdog then ends no process. */
  set isDebugged(isDebugged: boolean) {
    this.words[DEBUGGED] = isDebugged ? 1 : 0
  }

  get isDebugged(): boolean {
    return Atomics.load(this.words, DEBUGGED) === 1
  }

  /** The runs in progress, slot 0 first. */
  runs(): ReadonlyArray<Run> {
    const runs: Array<Run> = []
    for (let place = 0; place < PLACES; place++) {
      const run = this.read(place)
      if (run !== undefined) runs.push(run)
    }
    return runs
  }

  /** The run of a slot; `undefined` if it is free or changes during the read. */
  private read(place: number): Run | undefined {
    const { words } = this
    const at = FRONT + place * PLACE
    const version = Atomics.load(words, at + VERSION)
    if ((version & 1) === 0) return undefined
    const progress = Atomics.load(words, at + PROGRESS)
    const run = {
      place,
      progress: version * 2 ** 20 + progress,
      limitMs: Atomics.load(words, at + LIMIT),
      space: this.text(at, SPACE),
      beat: Atomics.load(words, at + BEAT) * 2 ** 31 + Atomics.load(words, at + BEAT + 1),
      enzyme: this.text(at, ENZYME),
      event: this.text(at, EVENT),
      node: this.text(at, NODE),
      hasReturned: place > 0 && Atomics.load(words, at + RETURNED) === 1
    }
    return Atomics.load(words, at + VERSION) === version && words[at + PROGRESS] === progress ? run : undefined
  }

  private begin(beat: number): void {
    const { words } = this
    words[FRONT + BEAT] = Math.floor(beat / 2 ** 31)
    words[FRONT + BEAT + 1] = beat % 2 ** 31
    words[FRONT + PROGRESS] = this.progress = 0
    // The version changes even if the previous run never left.
    words[FRONT + VERSION] = this.version = (this.version + 2) | 1
  }

  /** Writes a text of slot 0, unless it is unchanged. */
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
    const length = Math.min(Atomics.load(this.words, at + LENGTHS + which), MAX_TEXT)
    return String.fromCharCode(...this.texts.subarray(start, start + length))
  }
}

/**
 * The runs to blame: the run in slot 0, or else the waiting runs from which the thread never returned. Others may be innocent.
 */
export const blame = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const first = runs.find(({ place }) => place === 0)
  return first === undefined ? runs.filter(({ hasReturned }) => !hasReturned) : [first]
}

/**
 * The marks of a space, with one more for a run in progress there.
 */
export const mark = ({ beat, enzyme, event, node }: Run, marks: ReadonlyArray<Mark>): ReadonlyArray<Mark> => {
  // A mark made before the run began is of the same beat.
  if (node === "") {
    return [...marks.filter((mark) => !("event" in mark) || mark.event !== event || mark.enzyme !== enzyme), { beat, enzyme, event }]
  }
  const before = marks.find((mark) => "node" in mark && mark.node === node) as Extract<Mark, { readonly node: string }> | undefined
  return [
    ...marks.filter((mark) => mark !== before),
    { beat, node, ends: (before?.ends ?? 0) + 1, code: before?.code }
  ]
}
