/**
 * The enzyme with a schedule in each space of a world, and the checks of its events.
 *
 * Each event appends its due times to a log. Some events fail at first, so that later due times come while they wait.
 *
 * @module
 */
import { Exit } from "effect"
import { Enzyme, Retry, type Space } from "systole"
import type { Tell } from "./Bank.ts"
import type { World } from "./World.ts"

const NAME = "clockwork"
const LOG = `/data/${NAME}`

/** The seconds between two due times, and the most that the attempts at an event wait together. */
const EVERY = 20
const WAITING = 45

/** The events of a schedule. */
export const kinds = ["event", "attempt", "collapse"] as const

/** An event in the log. */
interface Entry {
  readonly due: number
  readonly next: number
  readonly now: number
}

/** The enzyme in the spaces of a world. */
export const enzyme = (spaces: ReadonlyArray<string>, { count }: Pick<Tell, "count">): Enzyme.Enzyme =>
  Enzyme.make({
    name: NAME,
    query: `/signals/${NAME}`,
    schedule: { every: `${EVERY}s`, spaces },
    retry: { attempts: 6, delay: "15s", factor: 2, max: "30s", jitter: 0.5 },
    run: (tx, { attempt, payload }) => {
      const { due, next } = payload as { readonly due: number; readonly next: number }
      count(`schedule ${attempt === 1 ? "event" : "attempt"}`)
      if (attempt <= due / 1000 % 3) return new Retry({ reason: "not yet" })
      if (next - due > EVERY * 1000) count("schedule collapse")
      return tx.append(LOG, { due, next, now: tx.now })
    }
  })

/** Whether a row of a list belongs to the schedule, whose events go on at any time. */
export const isEvent = (row: string): boolean => row.includes(`/signals/${NAME}`)

const logOf = async (world: World, space: Space): Promise<ReadonlyArray<Entry> | undefined> => {
  const exit = await world.run(space.get(LOG))
  return exit === undefined || !Exit.isSuccess(exit) ? undefined : (exit.value ?? []) as unknown as ReadonlyArray<Entry>
}

/** Each due time is in one event, and the events have all of them, in order. */
export const events = async (world: World, space: Space): Promise<string | undefined> => {
  // Of two hosts of a space, one sees the schedule of the other as absent.
  const log = world.plan.hasSchedule && !world.wasSplit ? await logOf(world, space) : undefined
  for (const [i, { due, next, now }] of log?.entries() ?? []) {
    const before = log?.[i - 1]
    const shown = `${space.name}: the schedule has ${JSON.stringify(log?.slice(Math.max(0, i - 1), i + 1))}`
    if (due > now || next <= due || (next - due) % (EVERY * 1000) !== 0) return `${shown}, whose times are no due times`
    // A rollback takes back handlings, and sends no event again.
    if (before !== undefined && (world.rollbacks.has(space.name) ? due < before.next : due !== before.next)) {
      return `${shown}, where ${due < before.next ? "a due time is twice" : "due times are lost"}`
    }
  }
  return undefined
}

/** A schedule goes on: it has an event whenever the last one is over. */
export const lives = async (world: World, space: Space): Promise<string | undefined> => {
  const before = world.plan.hasSchedule && !world.wasSplit ? await logOf(world, space) : undefined
  if (before === undefined) return undefined
  const rounds = 4
  await world.advance(rounds * (EVERY + WAITING) * 1000)
  const more = (await logOf(world, space) ?? before).length - before.length
  const most = rounds * (EVERY + WAITING) / EVERY + 2
  return more >= rounds - 1 && more <= most
    ? await events(world, space)
    : `${space.name}: the schedule had ${more} events in ${rounds * (EVERY + WAITING)} seconds`
}
