/**
 * The check that finished work leaves no timer behind, and no row once its records are old.
 *
 * @module
 */
import { Effect, Exit } from "effect"
import type { Space } from "systole"
import type { World } from "./World.ts"

/** Longer than finished records are kept, and than any process waits, in milliseconds. */
const AGE = 40 * 86_400_000

/** The rows that stay: letters, the channels, the code and the settings of a space, and the pieces that no handler has stopped. */
const kept = ["/rt/dead/", "/rt/ops/OPS:io", "/sys/code/", "/sys/clock", "/sys/enzymes/", "/sys/labels", "/sys/state/", "/sys/pieces"]

/** The operations that go on, and those of runs with letters, which an operator may begin again. */
const opsOf = (space: Space) => Effect.gen(function*() {
  const { runs } = yield* space.runs.list({ limit: 200 })
  const { operations } = yield* space.ops.list({ limit: 200 })
  const open = operations.filter(({ status }) => status === null)
  return [...runs, ...open].flatMap(({ oid }) => [`/rt/ops/${oid}`, `/sys/bind/rt/ops/${oid}`])
})

/** The rows of a space that belong to no open work. */
const rowsOf = (space: Space) => Effect.gen(function*() {
  const stays = [...kept, ...yield* opsOf(space)]
  const rows: Array<string> = []
  for (const top of ["/rt", "/sys"]) rows.push(...yield* space.below(top, { limit: 400 }))
  return rows.filter((row) => !stays.some((start) => row.startsWith(start)))
})

/** Looks for timers and rows of finished work. Returns the first ones. An agent and a schedule go on for ever. */
export const find = async (world: World): Promise<string | undefined> => {
  if (world.plan.hasAgent || world.plan.hasSchedule) return undefined
  await world.advance(AGE)
  const { elapsed, next } = world.clock
  if (next !== undefined) return `a timer goes on at rest, with ${next - elapsed} ms left`
  for (const number of world.names.keys()) {
    const space = await world.space(number)
    // Records go with the beats after their time.
    for (let beat = 0; beat < 3 && space !== undefined; beat++) await world.run(space.set("/data/in/0", beat))
    const rows = space && await world.run(rowsOf(space))
    if (rows !== undefined && Exit.isSuccess(rows) && rows.value.length > 0) {
      return `${space?.name} keeps ${rows.value.length} rows of finished work: ${rows.value.slice(0, 6).join(", ")}`
    }
  }
  return undefined
}
