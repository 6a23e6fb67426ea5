/**
 * The reference model of expiry.
 *
 * @module
 */

/** The kinds of records: rendezvous, flows, operations and diagnostics. */
export type Kind = "rv" | "flow" | "op" | "fact"

/** The records of one beat that are kept. */
interface Note {
  readonly beat: number
  readonly clock: number
  names: ReadonlyArray<string>
}

/** Keeps the newest finished records, limited by number and age. */
export class ReferenceModel {
  readonly kept: Readonly<Record<Kind, Set<string>>> = { rv: new Set(), flow: new Set(), op: new Set(), fact: new Set() }
  readonly spawned = new Map<string, number>()
  private readonly notes: Readonly<Record<Kind, Array<Note>>> = { rv: [], flow: [], op: [], fact: [] }
  private readonly limits: { readonly finishedCount: number; readonly finishedMillis: number }

  constructor(limits: ReferenceModel["limits"]) {
    this.limits = limits
  }

  retire(clock: number): void {
    for (const kind of Object.keys(this.notes) as ReadonlyArray<Kind>) {
      let excess = this.notes[kind].reduce((sum, { names }) => sum + names.length, 0) - this.limits.finishedCount
      for (const note of this.notes[kind]) {
        const count = note.clock + this.limits.finishedMillis <= clock
          ? note.names.length
          : Math.max(0, Math.min(excess, note.names.length))
        if (count === 0) break
        for (const name of note.names.slice(0, count)) {
          if (kind !== "rv" || (this.spawned.get(name) ?? 0) <= note.beat) this.kept[kind].delete(name)
        }
        note.names = note.names.slice(count)
        excess -= count
      }
      while (this.notes[kind][0]?.names.length === 0) this.notes[kind].shift()
    }
  }

  end(kind: Kind, now: { readonly beat: number; readonly clock: number }, names: ReadonlyArray<string>): void {
    if (names.length === 0) return
    this.notes[kind].push({ ...now, names: [...names].sort() })
    for (const name of names) this.kept[kind].add(name)
  }
}
