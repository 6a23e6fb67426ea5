/**
 * A person who edits a control file by every route, and keeps account of each save that no later one of the person replaced.
 *
 * @module
 */
import * as Random from "../support/Random.ts"
import type { Inode, MemoryDisk } from "./MemoryDisk.ts"
import { PATH } from "./TestAgent.ts"

const FOLDER = "/home/ann"
const encoder = new TextEncoder()

const utf16 = (text: string): Uint8Array => Uint8Array.from([0xff, 0xfe, ...[...text].flatMap((char) => [char.charCodeAt(0) % 256, 0])])

/** The marks of saves in a text. */
const marksOf = (text: string): ReadonlyArray<string> => text.match(/mark\d+;/g) ?? []

export class RandomPerson {
  /** The marks of saves that no later save replaced. */
  readonly expected = new Set<string>()
  /** The orders by the ids of actions: one when it is first written, and one for each wish of another run. */
  readonly orders = new Map<string, number>()
  /** Bytes that nobody but the person may replace, such as those in another encoding. */
  own: Uint8Array | undefined
  private saves = 0
  private readonly buffers: Array<string> = []
  private late: { readonly file: Inode; readonly text: string } | undefined
  private seen = ""
  private readonly disk: MemoryDisk
  private readonly draw: Random.Random

  constructor(disk: MemoryDisk, draw: Random.Random) {
    this.disk = disk
    this.draw = draw
  }

  /** Sees the file, as any process may at any time. */
  look(): void {
    const text = this.disk.text(PATH)
    if (text !== undefined) this.seen = text
  }

  /** Opens the file in an editor, whose buffer is saved at some later time. */
  open(): void {
    const text = this.disk.text(PATH) ?? ""
    if (text.startsWith("---") && text.includes("## Notes")) this.buffers.push(text)
  }

  private get buffer(): string {
    return Random.pick(this.draw, this.buffers.slice(-6))
  }

  /** Replaces bytes of the file. The saves in the bytes before are replaced by the person. */
  private put(bytes: Uint8Array, write: (bytes: Uint8Array) => void, before: string): void {
    for (const mark of marksOf(before)) this.expected.delete(mark)
    write(bytes)
    for (const mark of marksOf(new TextDecoder().decode(bytes))) this.expected.add(mark)
    this.own = undefined
  }

  private inPlace(bytes: Uint8Array): void {
    const before = this.disk.text(PATH) ?? this.seen
    const file = this.disk.open(PATH)
    this.put(bytes, (all) => this.write(file, all), before)
  }

  private write(file: Inode, bytes: Uint8Array): void {
    file.bytes = bytes
    file.version++
  }

  private rename(bytes: Uint8Array): void {
    const before = this.disk.text(PATH) ?? this.seen
    this.put(bytes, (all) => {
      this.disk.names.delete(PATH)
      this.write(this.disk.open(PATH), all)
    }, before)
  }

  /** A text with a mark, and perhaps with another action, without one, or with a wish of another run. */
  private edited(text: string, isPresent: boolean): string {
    const mark = `mark${++this.saves};`
    const marked = text.replace("## Notes\n", `## Notes\n${mark}\n`)
    const kind = this.draw(6)
    if (kind === 0) {
      const id = `n${this.saves}`
      this.orders.set(id, 1)
      const block = `### [HIGH] ${id}\n- **id**: ${id}\n- **type**: shell\n- **command**: echo ${id}\n- **status**: pending\n\n`
      return marked.replace("## Notes", `${block}## Notes`)
    }
    if (kind === 1) return marked.replace(/### \[HIGH\] n\d+\n(?:- .*\n|\n)*/, "")
    if (kind !== 2 || !isPresent) return marked
    return marked.replace(/(- \*\*id\*\*: (n\d+)\n(?:- .*\n)*?- \*\*status\*\*: )(?:completed|failed)/, (_, line: string, id: string) => {
      this.orders.set(id, (this.orders.get(id) ?? 0) + 1)
      return `${line}pending`
    })
  }

  /** Ends a save in pieces. */
  finish(): void {
    if (this.late === undefined) return
    const { file, text } = this.late
    this.late = undefined
    this.put(encoder.encode(text), (all) => this.write(file, all), new TextDecoder().decode(file.bytes))
  }

  /** Acts once: edits, saves, restores or damages the file. */
  act(): void {
    if (this.late !== undefined) return this.finish()
    this.look()
    if (this.draw(3) === 0) this.open()
    if (this.buffers.length === 0) return
    const present = this.disk.text(PATH) ?? ""
    const isUsable = present.startsWith("---\n") && present.includes("## Notes")
    const base = isUsable && this.draw(2) === 0 ? present : this.buffer
    const bytes = (): Uint8Array => encoder.encode(this.edited(base, base === present))
    const route = this.draw(14)
    if (route < 4) return this.inPlace(bytes())
    if (route < 7) return this.rename(bytes())
    if (route < 9) return this.inPieces(this.edited(base, false))
    if (route === 9) return this.restoreCopy()
    if (route === 10) return this.inPlace(encoder.encode(this.buffer.slice(0, this.draw(60))))
    if (route === 11) return this.inPlace(new Uint8Array())
    if (route === 12) return this.encoded(utf16(base))
    return this.encoded(Uint8Array.from([...encoder.encode(base), 0xfc, 10]))
  }

  private inPieces(text: string): void {
    const file = this.disk.open(PATH)
    const before = new TextDecoder().decode(file.bytes)
    this.put(encoder.encode(text.slice(0, this.draw(text.length))), (all) => this.write(file, all), before === "" ? this.seen : before)
    this.late = { file, text }
  }

  private restoreCopy(): void {
    const names = this.disk.list(`${FOLDER}/history`)
    if (names.length === 0) return
    const copy = this.disk.names.get(`${FOLDER}/history/${Random.pick(this.draw, names)}`)
    if (copy !== undefined) this.inPlace(copy.bytes.slice())
  }

  private encoded(bytes: Uint8Array): void {
    this.inPlace(bytes)
    this.own = bytes
  }

  /** Saves a usable file again. */
  heal(): void {
    this.finish()
    this.look()
    const present = this.disk.text(PATH) ?? ""
    const isUsable = this.own === undefined && present.startsWith("---\n") && present.includes("## Notes")
    if (!isUsable) this.rename(encoder.encode(this.edited(this.buffer, false)))
  }
}
