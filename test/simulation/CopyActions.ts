/**
 * The actions with copies and backups of spaces.
 *
 * @module
 */
import type { Space } from "systole"
import { present } from "../support/Present.ts"
import type { Step } from "./Plan.ts"
import type { World } from "./World.ts"

/** Sends the newest signal to the space of a step again. */
type Again = (world: World, step: Step, older?: Space) => Promise<void>

/** An action in a space. */
type InSpace = (world: World, space: Space, asked: { readonly step: Step; readonly load: () => Promise<void> }) => Promise<void>

/** The actions, over the way to send a signal of the plan again, which goes on beside an export. */
export const copies = (again: Again) => {
  const inSpace = (act: InSpace) =>
    async (world: World, step: Step): Promise<void> => {
      const space = await world.space(step.numbers[0])
      if (space !== undefined) await act(world, space, { step, load: () => again(world, step, space) })
    }
  return {
    copy: inSpace((world, space, asked) => world.copies.copy(space, asked)),
    backup: inSpace((world, space, asked) => world.copies.backup(space, asked)),
    restore: (world: World, step: Step): Promise<void> =>
      world.copies.restore(present(world.names[step.numbers[0] % world.names.length]), step),
    free: inSpace((world, space) => world.copies.release(space))
  }
}
