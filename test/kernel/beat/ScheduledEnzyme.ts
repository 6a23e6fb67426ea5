import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, type Space } from "systole"
import { turns } from "../TestSpace.ts"

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const demand = { pace: "demand", create: "on-demand" } as const
export type Schedule = NonNullable<Enzyme.Definition["schedule"]>

/** An enzyme with a schedule, and its events: the space is not told, so two spaces are two enzymes. */
export const scheduled = (schedule: Schedule, name = "tick") => {
  const log: Array<string> = []
  const made = Enzyme.make({
    name,
    query: `/signals/${name}`,
    schedule,
    run: (tx, { payload }) => {
      const { due, next } = payload as { readonly due: number; readonly next?: number }
      log.push(`${tx.now}: ${due} ${next ?? "none"}`)
      tx.increment(`/data/${name}`)
    }
  })
  return { log, made }
}

/** Lets the time pass in parts, so that each wake arms the next one. */
export const pass = (millis: number, part = MINUTE) =>
  Effect.gen(function*() {
    for (let passed = 0; passed < millis; passed += part) {
      yield* TestClock.adjust(part)
      yield* turns(2)
    }
  })

/** The plan of a schedule, without the id of its newest event. */
export const plan = (space: Space, name = "tick") =>
  Effect.map(space.get(`/sys/schedules/${name}`), (value) => {
    const { event: _, ...plan } = (value ?? {}) as Readonly<Record<string, unknown>>
    return value === undefined ? undefined : plan
  })
