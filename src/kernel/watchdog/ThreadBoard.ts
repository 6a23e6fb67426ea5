/**
 * The thread board: the turns of the event loop and the channels with jobs in progress, in memory shared with the watchdog
 * thread.
 *
 * Code outside of runs may hold the thread, too, such as a channel. The board tells this from a run that holds it.
 *
 * @module
 */

/** Most channels on the board. Further ones are not named. */
const CHANNELS = 32

/** Most characters of the id of a channel. */
const MAX_TEXT = 64

/** Words of the header: the number of turns, the channel that has the thread, counted from 1, and the number of channels. */
const TURNS = 0
const HOLDER = 1
const NUMBER = 2
const FRONT = 3

/** Words of a channel: its jobs in progress, the length of its id, and the id. */
const JOBS = 0
const LENGTH = 1
const TEXT = 2
const PLACE = TEXT + MAX_TEXT / 2

/**
 * The board of one process.
 */
export class ThreadBoard {
  readonly memory: SharedArrayBuffer
  private readonly words: Int32Array
  private readonly texts: Uint16Array
  private readonly places = new Map<string, number>()

  constructor(memory = new SharedArrayBuffer(4 * (FRONT + CHANNELS * PLACE))) {
    this.memory = memory
    this.words = new Int32Array(memory)
    this.texts = new Uint16Array(memory)
  }

  /** The event loop has turned. */
  turn(): void {
    Atomics.add(this.words, TURNS, 1)
  }

  /** The number of turns; 0 on a host that counts none. */
  get turns(): number {
    return Atomics.load(this.words, TURNS)
  }

  /** A job of a channel begins. */
  started(channel: string): void {
    this.count(channel, 1)
  }

  /** A job of a channel has ended. */
  ended(channel: string): void {
    this.count(channel, -1)
  }

  /** The code of a channel gets the thread. */
  enter(channel: string): void {
    Atomics.store(this.words, HOLDER, 1 + (this.place(channel) ?? -1))
  }

  /** The code of a channel has returned. */
  leave(): void {
    Atomics.store(this.words, HOLDER, 0)
  }

  /** The channel whose code has the thread, if it is known. */
  get holder(): string | undefined {
    const holder = Atomics.load(this.words, HOLDER)
    return holder === 0 ? undefined : this.id(holder - 1)
  }

  /** The channels with jobs in progress. */
  get active(): ReadonlyArray<string> {
    const places = Array.from({ length: Atomics.load(this.words, NUMBER) }, (_, place) => place)
    return places.filter((place) => Atomics.load(this.words, FRONT + place * PLACE + JOBS) > 0).map((place) => this.id(place))
  }

  private count(channel: string, more: number): void {
    const place = this.place(channel)
    if (place !== undefined) Atomics.add(this.words, FRONT + place * PLACE + JOBS, more)
  }

  /** The place of a channel, which it keeps; `undefined` if all are taken. */
  private place(channel: string): number | undefined {
    const known = this.places.get(channel)
    const place = known ?? this.places.size
    if (known !== undefined || place === CHANNELS) return known
    const at = FRONT + place * PLACE
    const length = Math.min(channel.length, MAX_TEXT)
    for (let i = 0; i < length; i++) this.texts[2 * (at + TEXT) + i] = channel.charCodeAt(i)
    this.words[at + LENGTH] = length
    this.places.set(channel, place)
    Atomics.store(this.words, NUMBER, this.places.size)
    return place
  }

  private id(place: number): string {
    const at = FRONT + place * PLACE
    const start = 2 * (at + TEXT)
    return String.fromCharCode(...this.texts.subarray(start, start + Math.min(Atomics.load(this.words, at + LENGTH), MAX_TEXT)))
  }
}
