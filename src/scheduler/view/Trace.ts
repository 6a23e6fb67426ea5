/**
 * Traces: recent activity of the scheduler, by kind.
 *
 * No decision depends on traces, and an inactive kind records no lines. [S2 §2 P10, §13]
 *
 * @module
 */
import type * as Inspection from "../../contract/Inspection.ts"

/** Most lines of one kind; older ones are dropped. */
export const MAX_LINES = 150

/** The lines of each kind. */
export type Lines = { readonly [K in Kind]: ReturnType<typeof Inspection.lines>[K]["Type"] }

/** The kinds of traces. */
export type Kind = (typeof Inspection.KINDS)[number]

/**
 * The traces of one graph.
 */
export class Trace {
  /** The lines of each kind; `undefined` of one that is not active. */
  private readonly lines: { [K in Kind]: Array<Lines[K]> | undefined } = { run: undefined, invalid: undefined, pass: undefined }

  /** Activates these kinds and no others. A kind that stays active keeps its lines. */
  set(wanted: ReadonlyArray<Kind>): void {
    for (const kind of this.kinds) {
      if (!wanted.includes(kind)) this.lines[kind] = undefined
      else this.lines[kind] ??= []
    }
  }

  has(kind: Kind): boolean {
    return this.lines[kind] !== undefined
  }

  /** The active kinds. */
  get active(): ReadonlyArray<Kind> {
    return this.kinds.filter((kind) => this.has(kind))
  }

  private get kinds(): ReadonlyArray<Kind> {
    return Object.keys(this.lines) as ReadonlyArray<Kind>
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
