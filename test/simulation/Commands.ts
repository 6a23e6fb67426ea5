/**
 * The commands of operators over the ledgers of a space, and the uploads of callers.
 *
 * @module
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Space } from "systole"
import type { Step } from "./Plan.ts"

/** A command in a space. */
type Command = (space: Space, step: Step) => Effect.Effect<unknown, unknown>

/** The item of a number; `undefined` if there are none. */
const at = <A>(items: ReadonlyArray<A>, number: number): A | undefined => items[number % Math.max(1, items.length)]

const verbs = ["pause", "resume", "cancel", "budget"] as const

/** Tells a flow what to do. */
const steer: Command = (space, { numbers: [, n, verb, more] }) => Effect.gen(function*() {
  const row = at((yield* space.flows.list({ limit: 20 })).instances, n)
  if (row === undefined) return
  const chosen = at(verbs, verb) ?? "resume"
  if (chosen === "budget") yield* space.flows.budget(row.inst, { steps: 1 + more % 6, beats: more % 30 })
  else yield* space.flows[chosen](row.inst)
})

/** Postpones, kills or lets go a rendezvous. */
const postpone: Command = (space, { numbers: [, n, verb, by] }) => Effect.gen(function*() {
  const row = at((yield* space.rv.list({ limit: 20 })).rendezvous, n)
  if (row === undefined) return
  if (verb % 3 === 0) yield* space.rv.resched(row.key, { delta: by % 9 - 4 })
  else if (verb % 3 === 1) yield* space.rv.release(row.key)
  else yield* space.rv.kill(row.key, { wait: by % 4 })
})

/** Changes the state of an operation of a program. */
const state: Command = (space, { numbers: [, n, word] }) => Effect.gen(function*() {
  const row = at((yield* space.ops.list({ limit: 20 })).operations.filter(({ oid }) => oid.startsWith("OPS:")), n)
  if (row !== undefined) yield* space.ops.state(row.oid, { state: at(["ist:plan", "ist:run", "ist:wait"], word) ?? "ist:run" })
})

/** Cancels a request. */
const withdraw: Command = (space, { numbers: [, n] }) => Effect.gen(function*() {
  const row = at((yield* space.io.list({ limit: 20, open: true })).requests, n)
  if (row !== undefined) yield* space.io.cancel(row.rid)
})

/** Uploads content, and sends it to a handler that keeps it. */
const upload: Command = (space, { numbers: [, n, size] }) => Effect.gen(function*() {
  const bytes = Buffer.alloc(1 + size % 3 * 40_000, `content ${n % 5}`)
  const hash = createHash("sha256").update(bytes).digest("hex")
  const { store, writer } = yield* space.content
  writer.write(bytes)
  writer.finish(hash)
  yield* store(hash)
  const payload = [{ do: "take", slot: n % 3, address: `/cas/${hash}` }]
  yield* space.signal({ signal: "/signals/plain/1", target: "/data/t/1", payload, ...n % 2 === 0 ? {} : { at: { ms: n % 3000 } } })
})

/** The commands, by the names of their actions. */
export const commands = { steer, postpone, state, withdraw, upload } as const
