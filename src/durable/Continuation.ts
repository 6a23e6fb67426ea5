/**
 * Continuations: the bodies of durable runs between their segments, in memory.
 *
 * A continuation is a cache of the step log. It is valid only while every beat that advanced it is committed; otherwise
 * it is remade from the log.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Enzyme } from "../registry/Enzyme.ts"
import type { RunScope } from "../registry/RunScope.ts"
import * as Semantics from "../stage/Semantics.ts"
import { DurableTransaction } from "./DurableTransaction.ts"
import * as EffectBody from "./EffectBody.ts"
import type { SegmentHost } from "./EffectBody.ts"
import type { Handle, HandleResult } from "./Handle.ts"
import type { ContentSource } from "./RecordedSegment.ts"
import { RunDiverged } from "./RunError.ts"
import type { Step } from "./Step.ts"

/** The end of a body. */
export type Settlement = { readonly value: unknown } | { readonly error: unknown }

/** How recorded segments are repeated. */
export interface Repetition {
  readonly host: SegmentHost
  readonly contentOf: ContentSource
  /** Starts the body. */
  readonly body: (tx: DurableTransaction) => unknown
}

/** A body that awaits its handles, or that has settled. */
export type Progress = Settlement | "waits"

/**
 * The body of one run.
 */
export class Continuation {
  readonly tx: DurableTransaction
  /** The characters of the step log. */
  size = 0
  /** Whether the run had no step when its body began, so that each later step is the first document at its address. */
  isNew = false
  /** The enzyme with which the body began, if its module has a digest; otherwise the present one makes the next segment. */
  enzyme: Pick<Enzyme, "writes"> | undefined
  /** The module whose declared signals the run hears. */
  declaredBy: Enzyme | undefined
  private settlement: Settlement | undefined

  constructor(oid: string) {
    this.tx = new DurableTransaction(oid)
  }

  /** Starts the body within the first segment. */
  start(body: (tx: DurableTransaction) => unknown, host: SegmentHost): void {
    const { tx } = this
    const { scope } = host
    try {
      const result = scope.inside(() => {
        const result = body(tx)
        if (Effect.isEffect(result)) return EffectBody.start(result as Effect.Effect<unknown, unknown>, tx, host)
        return isThenable(result) ? Promise.resolve(result) : result
      })
      if (result instanceof Promise) this.follow(result as Promise<unknown>, scope)
      else this.settlement = { value: result }
    } catch (error) {
      this.settlement = { error }
    }
  }

  private follow(result: Promise<unknown>, scope: RunScope): void {
    scope.begins()
    // A body in memory is dropped while it waits. Its log remakes it.
    scope.mayNeverEnd(result)
    const settle = (settlement: Settlement): void => {
      scope.ends(result)
      this.settlement = settlement
      if (!this.tx.isActive) this.tx.stray("it ended outside a segment")
    }
    result.then((value) => settle({ value }), (error: unknown) => settle({ error }))
  }

  /** Settles handles with their results, in order; with a copy of a result if there is one, by the number of its handle. */
  resume(settled: ReadonlyArray<HandleResult>, copies: ReadonlyMap<number, HandleResult> = none): void {
    for (const result of settled) {
      const [number] = result
      const error = this.take(result)?.settle(copies.get(number) ?? result)
      if (error !== undefined) this.tx.cancellations.give(error)
    }
  }

  /** Takes a handle that has its result. A wait that fails has heard nothing, and leaves its signal to the next one. */
  private take([number, outcome]: HandleResult): Handle | undefined {
    const { handles, pairs } = this.tx
    if (outcome === "ok" || !Semantics.follows(this.tx, "cancelledWaitsPass")) return handles.take(number)
    const handle = handles.cancel(number)
    if (handle?.awaited.kind === "signal") pairs.unwait(handle.awaited.pair)
    return handle
  }

  /** Resolves when no microtask is left. A body that has not settled by then awaits a handle, or a promise of its own. */
  progress(host: SegmentHost): Promise<Progress> {
    return new Promise((resolve) => host.turn(() => resolve(this.present)))
  }

  private get present(): Progress {
    const { settlement, tx } = this
    if (settlement !== undefined) return settlement
    return tx.handles.isAwaited ? "waits" : { error: tx.stray("it is not over, and awaits none of its open handles") }
  }

  /** Repeats one recorded segment. `body` starts the first one. */
  async repeat(step: Step, how: Repetition): Promise<void> {
    const { tx } = this
    tx.repeat(step, how.contentOf)
    if (tx.segment === 0) tx.semantics = Semantics.read(step.semantics)
    tx.declare(step.hears ?? [])
    if (tx.segment === 0) this.start(how.body, how.host)
    else this.resume(step.settled)
    const progress = await this.progress(how.host)
    const { segment } = tx
    tx.end()
    if (tx.failure !== undefined) throw tx.failure
    if (progress !== "waits") throw new RunDiverged({ segment, expected: "an await at its end", actual: "the end of the run" })
  }
}

const none: ReadonlyMap<number, HandleResult> = new Map()

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function"
