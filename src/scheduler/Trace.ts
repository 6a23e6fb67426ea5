/**
 * Traces: what the scheduler did last, by kind, for who wants to know.
 *
 * What is taken down decides nothing, and nothing is taken down that nobody
 * asked for. (Seed 002, P10 and section 13.)
 *
 * @module
 */

/** Most lines that are kept of one kind; older ones go. */
export const MAX_LINES = 1000

/** One run: who, in which beat, for what changes, and how it failed. */
export interface RunLine {
  readonly beat: number
  readonly node: string
  /** Whether a handling asked for it, or it ran in the pass. */
  readonly in: "gate" | "pass"
  readonly causes: ReadonlyArray<string>
  readonly error: string | undefined
}

/** A node that a change reached. */
export interface InvalidLine {
  readonly beat: number
  readonly node: string
}

/** What one beat's derivation took. */
export interface PassLine {
  readonly beat: number
  readonly runs: number
  readonly invalid: number
  readonly restless: ReadonlyArray<string>
}

/** The lines of each kind. */
export interface Lines {
  readonly run: RunLine
  readonly invalid: InvalidLine
  readonly pass: PassLine
}

/** What can be traced. */
export type Kind = keyof Lines

export const kinds: ReadonlyArray<Kind> = ["run", "invalid", "pass"]

/**
 * The traces of one graph.
 *
 * @category models
 * @since 0.1.0
 */
export class Trace {
  private readonly lines: { [K in Kind]?: Array<Lines[K]> } = {}

  /** Takes down these kinds from now on, and no others; what was taken down of one that stays is kept. */
  set(wanted: ReadonlyArray<Kind>): void {
    for (const kind of kinds) {
      if (!wanted.includes(kind)) delete this.lines[kind]
      else this.lines[kind] ??= []
    }
  }

  has(kind: Kind): boolean {
    return this.lines[kind] !== undefined
  }

  /** The kinds that are taken down. */
  get active(): ReadonlyArray<Kind> {
    return kinds.filter((kind) => this.has(kind))
  }

  add<K extends Kind>(kind: K, line: Lines[K]): void {
    const lines = this.lines[kind] as Array<Lines[K]> | undefined
    if (lines === undefined) return
    lines.push(line)
    if (lines.length > 2 * MAX_LINES) lines.splice(0, lines.length - MAX_LINES)
  }

  /** The newest lines of a kind, oldest first. */
  get<K extends Kind>(kind: K): ReadonlyArray<Lines[K]> {
    return ((this.lines[kind] ?? []) as Array<Lines[K]>).slice(-MAX_LINES)
  }
}
