/**
 * Parts of the API of a space, which its slices make.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { Value } from "../../cell/Value.ts"
import type { GroupCommit } from "../beat/GroupCommit.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { Command, Done } from "../model/Command.ts"
import type { DurableStore } from "../view/CellList.ts"
import type { ControlError } from "../view/Expected.ts"

/** An open space, as the faces of its ledgers need it. */
export interface FaceHost extends DurableStore {
  /** Hands a command to the next beat; answers that beat and the reply, when it is durable. */
  readonly submit: (make: () => Command) => Effect.Effect<Done, ControlError>
  readonly hash: (text: string) => string
  /** A view of the live halves; `undefined` if none has it. */
  readonly view: (id: string) => Value
}

/** An open space, as the parts of its API use it. */
export interface PartHost {
  readonly ledgers: FaceHost
  readonly state: LiveState
  readonly group: GroupCommit
}

/** Members that return an effect: a method, or the effect itself. */
export type Members<Names extends PropertyKey = string> = Readonly<Record<Names, "method" | "effect">>

/**
 * A part of the API of a space.
 *
 * @category models
 * @since 0.2.0
 */
export interface SpacePart {
  /** Its name in the API. */
  readonly name: string
  readonly members: Members
  /** Makes the part of an open space. */
  readonly make: (host: PartHost) => object
}
