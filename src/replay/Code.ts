/**
 * The code of a replay: whether what runs now is what ran then.
 *
 * @module
 */
import type { Archive } from "../kernel/Archive.ts"
import * as Journal from "../kernel/Journal.ts"
import * as Rows from "./Rows.ts"

/** Characters of an entry in which its modules begin, where it names them. */
const HEADER = 400

/**
 * The modules that the journal names, beat by beat, beside those that are active now.
 *
 * @category models
 * @since 0.1.0
 */
export class Code {
  /** Modules that were another one's code in a beat that was looked at. */
  readonly changed = new Set<string>()
  private readonly archive: Pick<Archive, "enzymes" | "nodes">
  private then: ReadonlyArray<Journal.Module> | undefined

  private constructor(archive: Pick<Archive, "enzymes" | "nodes">) {
    this.archive = archive
  }

  /** The code that a beat found active. */
  static async before(archive: Archive, beat: number): Promise<Code> {
    const code = new Code(archive)
    for (const row of Rows.downFrom(archive, beat - 1)) {
      const pause = archive.rest()
      if (pause !== undefined) await pause
      if (!row.text.slice(0, HEADER).includes('"modules":')) continue
      code.see(Journal.parse(row.text))
      break
    }
    return code
  }

  /** Goes on to the beat of an entry. */
  see({ modules }: Journal.Parsed): void {
    this.then = modules ?? this.then
    if (modules !== undefined) for (const name of this.others()) this.changed.add(name)
  }

  /**
   * Why a beat does not come out as it did, where that is for its code: the names of what ran in it, then or now, and is
   * not what it was. `made` is the entry that the replay made, where it made one.
   */
  missing(entry: Journal.Parsed, made: Journal.Parsed | undefined): ReadonlyArray<string> {
    const lines = [...Journal.ownRuns(entry), ...made === undefined ? [] : Journal.ownRuns(made)].filter(isRun)
    const keys = new Set(this.archive.enzymes.all().map(({ key }) => key))
    const gone = lines.flatMap((line) => keys.has(line[1]) ? [] : [line[1]])
    const ran = new Set([...lines.map((line) => line[1].split("~")[0]!), ...[entry, made].flatMap((each) => each?.nodes?.map(([name]) => name) ?? [])])
    const then = new Set(this.then?.map(([name]) => name))
    const added = this.then === undefined ? [] : this.active().flatMap(([name]) => then.has(name) ? [] : [name])
    return [...new Set([...gone, ...[...this.others(), ...added].filter((name) => ran.has(name))])]
  }

  private active(): ReadonlyArray<readonly [name: string, hash: string]> {
    return [...this.archive.enzymes.modules(), ...this.archive.nodes.modules()]
  }

  /** The modules of then whose code is another now, or is gone. */
  private others(): ReadonlyArray<string> {
    const now = new Map(this.active())
    return (this.then ?? []).flatMap(([name, hash]) => now.get(name) === hash ? [] : [name])
  }
}

/** Outcomes that the runtime settled without running anything. */
const settled: ReadonlySet<unknown> = new Set(["enzyme/gone", "signal/storm"])

const isRun = (line: Journal.RunLine): boolean => !settled.has(line[4]) && !line[1].startsWith("space:")
