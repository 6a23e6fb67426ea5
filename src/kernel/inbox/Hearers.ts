/**
 * The durable runs that hear signals, by signal and target.
 *
 * @module
 */

/** The runs at one target. Most targets have one run, so that one is no list. */
type Runs<R> = R | Set<R>

/**
 * Runs by the signals that they hear.
 */
export class Hearers<R extends object> {
  private readonly bySignal = new Map<string, { readonly signal: string; readonly byTarget: Map<string, Runs<R>> }>()

  /** Adds a run, made with the text of the signal that all its hearers share. */
  add(signal: string, target: string, make: (signal: string) => R): R {
    let known = this.bySignal.get(signal)
    if (known === undefined) this.bySignal.set(signal, known = { signal, byTarget: new Map() })
    const run = make(known.signal)
    const runs = known.byTarget.get(target)
    if (runs === undefined) known.byTarget.set(target, run)
    else if (runs instanceof Set) runs.add(run)
    else known.byTarget.set(target, new Set([runs, run]))
    return run
  }

  /** Removes a run. */
  drop(signal: string, target: string, run: R): void {
    const known = this.bySignal.get(signal)
    const runs = known?.byTarget.get(target)
    if (known === undefined || runs === undefined) return
    if (runs instanceof Set) runs.delete(run)
    if (runs instanceof Set ? runs.size === 0 : runs === run) known.byTarget.delete(target)
    if (known.byTarget.size === 0) this.bySignal.delete(signal)
  }

  /** The runs that hear a signal at a target. */
  of(signal: string, target: string): ReadonlyArray<R> {
    const runs = this.bySignal.get(signal)?.byTarget.get(target)
    if (runs === undefined) return none
    return runs instanceof Set ? [...runs] : [runs]
  }
}

const none: ReadonlyArray<never> = []
