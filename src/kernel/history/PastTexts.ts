/**
 * The documents of the past: the present with the changes of later beats undone, as the journal has them.
 *
 * @module
 */
import type { HistorySource } from "../beat/HistorySource.ts"
import * as Journal from "../journal/Journal.ts"
import { cellsOf, formerNameIn } from "../journal/JournalRecords.ts"
import type { JournalRow } from "../../persistence/Persistence.ts"
import { NotReplayable } from "./NotReplayable.ts"

/**
 * The documents that differ from the present of a space which goes on.
 */
export class PastTexts {
  /** The next beat. */
  next: number
  /** The documents: first in their historic version, later as a replay wrote them. */
  readonly texts = new Map<string, string | undefined>()
  /** Content that no beat had captured or made yet. */
  readonly unseen = new Set<string>()
  /** The imports since, each with the name of the space before it, in the order of their beats. */
  private readonly renamed: Array<{ readonly beat: number; readonly name: string }> = []
  private readonly source: HistorySource["store"]
  private readonly from: number
  private readonly limit: number
  /** The number of characters of the documents. */
  private size = 0
  /** The beat down to which the present is undone. */
  private undone: number
  /** The documents up to this key are not read any more. */
  private passed = ""

  /** `limit` is in characters. */
  constructor(source: HistorySource["store"], { from, limit }: { readonly from: number; readonly limit: number }) {
    this.source = source
    this.limit = limit
    this.from = from
    this.next = from
    this.undone = from - 1
  }

  /** Undoes the changes of the space, alternating with its new beats. The turns become fewer, so that the loop ends. */
  async takeBack({ rest }: Pick<HistorySource, "rest">): Promise<void> {
    for (let share = 1; this.undone < this.source.head().beat; share *= 2) {
      let taken = 0
      for (const row of this.since()) {
        this.undo(row)
        if (++taken % share !== 0) continue
        const pause = rest()
        if (pause !== undefined) await pause
      }
    }
  }

  /** Undoes the beats that the space ran while a replayed run waited. */
  catchUp(): void {
    if (this.undone < this.source.head().beat) for (const row of this.since()) this.undo(row)
  }

  private *since(): Iterable<JournalRow> {
    const { beat } = this.source.head()
    this.checkKept()
    yield* this.source.scanJournal(this.undone + 1, beat)
    this.undone = beat
  }

  /** Checks that the journal still has all beats that are not undone yet. */
  private checkKept(): void {
    const { beat } = this.source.anchor()
    if (beat <= this.undone) return
    const reason = `the journal is pruned up to beat ${beat}. Begin with a later one`
    throw new NotReplayable({ beat: this.undone + 1, code: "replay/pruned", reason })
  }

  private undo(row: JournalRow): void {
    this.checkKept()
    const entry = Journal.parse(row.text)
    for (const { before, key } of cellsOf(entry)) {
      if (key > this.passed && !this.texts.has(key)) this.keep(key, before === undefined ? undefined : JSON.stringify(before))
    }
    const name = formerNameIn(entry)
    // Content that came with an import is that of earlier beats.
    const captured = name === undefined ? entry.content ?? [] : []
    for (const hash of [...captured, ...entry.made ?? []]) this.unseen.add(hash)
    if (name !== undefined) this.renamed.push({ beat: row.beat, name })
    this.undone = row.beat
  }

  /** The name of the space in a beat before `from`. */
  earlierName(beat: number): string {
    for (const { text } of this.source.scanJournal(beat + 1, this.from - 1)) {
      const name = formerNameIn(Journal.parse(text))
      if (name !== undefined) return name
    }
    return this.nameIn(beat)
  }

  /** The name of the space in a beat from `from` on. */
  nameIn(beat: number): string {
    return this.renamed.find((each) => each.beat > beat)?.name ?? this.source.space
  }

  /** Forgets the documents up to a key, which are not read any more. */
  pass(key: string): void {
    this.passed = key
    if (this.size < this.limit / 2) return
    for (const [kept, text] of this.texts) {
      if (kept > key) continue
      this.size -= kept.length + (text?.length ?? 0)
      this.texts.delete(kept)
    }
  }

  /** The characters of the documents that differ from the present. */
  get held(): number {
    return this.size
  }

  keep(key: string, text: string | undefined): void {
    this.size += key.length + (text?.length ?? 0) - (this.texts.get(key)?.length ?? 0)
    this.texts.set(key, text)
    if (this.size <= this.limit) return
    const changed = `more than ${this.limit} characters of documents changed since`
    const reason = `${changed}. Begin with a later beat, or raise the limit pastBytes`
    throw new NotReplayable({ beat: this.next, code: "replay/size", reason })
  }

  /** Content that a beat captured or made is there from now on. */
  see(hashes: ReadonlyArray<string>): void {
    for (const hash of hashes) this.unseen.delete(hash)
  }
}
