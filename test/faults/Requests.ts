/**
 * The requests of a scenario to a space.
 *
 * @module
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Space } from "systole"
import type { Input } from "./Scenario.ts"

/** An input that asks the space for one thing. */
export type Request = Extract<Input, { readonly kind: "set" | "bind" | "unbind" | "keep" }>

const keep = (space: Space, bytes: Uint8Array) =>
  Effect.flatMap(space.content, ({ store, writer }) => {
    writer.write(bytes)
    return store(createHash("sha256").update(bytes).digest("hex"))
  })

/** Makes the request of an input. */
export const make = (space: Space, input: Request): Effect.Effect<unknown, unknown> => {
  switch (input.kind) {
    case "set":
      return space.set(input.address, input.value)
    case "bind":
      return space.bind(input.cell, input.enzyme)
    case "unbind":
      return space.unbind(input.cell, input.enzyme)
    case "keep":
      return keep(space, input.bytes)
  }
}
