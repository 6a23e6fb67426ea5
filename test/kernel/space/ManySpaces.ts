/**
 * Spaces that count their signals, for tests of a kernel with many of them.
 *
 * @module
 */
import { Effect } from "effect"
import type { Settings, Space } from "systole"
import { enzyme } from "../TestSpace.ts"

/** Counts signals, at once or after a delay, and forwards them. */
export const enzymes = [
  enzyme("add", (tx, { payload }) => tx.increment("/data/sum", Number(payload))),
  enzyme("later", (tx, { payload }) => tx.signal({ signal: "/signals/add", payload: 1, at: { ms: Number(payload) } })),
  enzyme("send", (tx, { payload }) => tx.signal({ signal: "/signals/add", space: String(payload), payload: 1 })),
  enzyme("slow", async (tx, { payload }) => {
    await new Promise<void>((resolve) => void slow.push(resolve))
    tx.increment("/data/sum", Number(payload))
  })
]

/** Runs that wait until a test ends them. */
export const slow: Array<() => void> = []

export const few: Partial<Settings> = { pace: "demand", create: "on-demand", open: 20 }
export const names = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`)
export const add = (space: Space, n = 1) => space.handled({ signal: "/signals/add", payload: n })
export const sum = (space: Space) => Effect.map(space.get("/data/sum"), (value) => value ?? 0)
