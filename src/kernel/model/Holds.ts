/**
 * The spaces whose beats run by hand, until they are released.
 *
 * @module
 */
import * as Context from "effect/Context"

/**
 * The names of held spaces. A change is durable no later than the answer to its request, if the host stores it.
 */
export type Holds = Pick<Set<string>, "add" | "delete" | "has">

/**
 * The holds of the host; without it, a kernel holds the spaces of its settings, and keeps changes in memory.
 */
export const CurrentHolds = Context.Reference<Holds | undefined>("systole/kernel/Holds", { defaultValue: () => undefined })
