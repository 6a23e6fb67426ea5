/**
 * Accidents: what happens to hosts, the network and whole spaces.
 *
 * @module
 */
import type { Space } from "systole"
import type { Step } from "./Plan.ts"
import type { World } from "./World.ts"

/** Sends the newest signal to the space of a step again: to a space as an older host has it, or as the present one does. */
type Again = (world: World, step: Step, older?: Space) => Promise<void>

const times = [5, 300, 4000, 90_000]

const timeOf = (number: number): number => times[number % times.length] ?? 0

/** The accidents, each over the way to send a signal of the plan again. */
export const accidents = (again: Again) => ({
  /** A space is removed, and made anew by the next caller. */
  renew: (world: World, { numbers: [number] }: Step): Promise<void> => world.renew(number),
  /** A host sleeps: its time stands still, and the others go on. */
  nap: (world: World, { numbers: [host, time] }: Step): Promise<void> => world.nap(host % world.hosts.length, timeOf(time)),
  /** The calls to a space, or its answers, are lost for a while. */
  cut: async (world: World, { numbers: [number, time, way] }: Step): Promise<void> => {
    const space = world.names[number % world.names.length] ?? ""
    world.network.cut(space, world.clock.elapsed + timeOf(time), way % 2 === 0 ? "is lost" : "is answered in vain")
    await world.quiet()
  },
  /** Two hosts have one space for a while, both with callers. The older one ends. */
  split: async (world: World, step: Step): Promise<void> => {
    const { numbers: [number, turns, time, order] } = step
    const at = number % world.homes.length
    const from = world.homes[at] ?? 0
    const to = (from + 1) % world.hosts.length
    if (from === to) return
    world.wasSplit = true
    const older = await world.space(number)
    if (order % 2 === 0) await again(world, step)
    world.homes[at] = to
    await again(world, step)
    await again(world, step, older)
    await world.pass(turns % 12)
    await world.advance(timeOf(time))
    world.kill(from)
    await world.boot(from)
  }
})
