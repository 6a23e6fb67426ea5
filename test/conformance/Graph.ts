/**
 * A real space with nodes that count their runs.
 *
 * @module
 */
import { Effect as Fx, Fiber } from "effect"
import type { NodeDefinition, Space, Transaction, Value } from "systole"
import { Computation, Kernel, Materializer, Reaction } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A log of runs: their numbers, their order, and the last delivery of each effect. */
export class Log {
  readonly runs: Record<string, number> = {}
  readonly seen: Record<string, Value> = {}
  readonly order: Array<string> = []

  ran(name: string, tx: Transaction): void {
    if (!TestKernel.isOwn(tx)) return
    this.runs[name] = (this.runs[name] ?? 0) + 1
    this.order.push(name)
  }

  /** The runs since the last call. */
  take(): Record<string, number> {
    const runs = { ...this.runs }
    for (const name of Object.keys(this.runs)) delete this.runs[name]
    this.order.length = 0
    return runs
  }

  computation(
    name: string,
    output: string | Omit<Computation.ComputationDefinition, "name" | "run">,
    run: (tx: Transaction) => Value
  ): NodeDefinition {
    const rest = typeof output === "string" ? { output } : output
    return Computation.make({ ...rest, name, run: (tx) => (this.ran(name, tx), run(tx)) })
  }

  effect(name: string, read: (tx: Transaction) => Value, more: Partial<Reaction.ReactionDefinition<Value>> = {}): NodeDefinition {
    return Reaction.make<Value>({
      name,
      ...more,
      read: (tx) => (this.ran(name, tx), read(tx)),
      deliver: (value) => {
        this.seen[name] = value
      }
    })
  }

  materializer(
    name: string,
    writes: ReadonlyArray<string> | Omit<Materializer.MaterializerDefinition, "name" | "run">,
    run: (tx: Transaction) => void
  ): NodeDefinition {
    const rest = "writes" in writes ? writes : { writes }
    return Materializer.make({ ...rest, name, run: (tx) => (this.ran(name, tx), run(tx)) })
  }
}

/** Writes each address of its payload. */
const writer = enzyme("put", (tx, { payload }) => {
  for (const [address, value] of payload as ReadonlyArray<readonly [string, Value]>) tx.set(address, value)
}, { query: "/signals/put" })

/** Registers nodes. */
export const register = (...nodes: ReadonlyArray<NodeDefinition>) =>
  Fx.flatMap(Kernel, (kernel) => Fx.forEach(nodes, (node) => kernel.register(node), { discard: true }))

/** A space with these nodes. */
export const open = (...nodes: ReadonlyArray<NodeDefinition>) => Fx.andThen(register(...nodes), TestKernel.space([writer]))

/** Writes cells by a handler, in one beat; `undefined` deletes. */
export const put = (space: Space, ...cells: ReadonlyArray<readonly [address: string, value: Value]>) =>
  Fx.andThen(space.signal({ signal: "/signals/put", payload: cells }), space.step)

/** The derived value of a place, after a pull. */
export const pull = (space: Space, address: string) =>
  Fx.gen(function*() {
    const fiber = yield* Fx.forkChild(space.pull(address), { startImmediately: true })
    yield* space.step
    return yield* Fiber.join(fiber)
  })
