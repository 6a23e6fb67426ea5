/**
 * The digest of a world that is over: its journals, receipts, effects and answers. It is the same on each host.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { Effect, Exit } from "effect"
import type { World } from "./World.ts"

/** A text of an answer. */
export const textOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (!Exit.isSuccess(exit)) return "failed"
  return JSON.stringify(exit.value, (_, value: unknown) => typeof value === "bigint" ? String(value) : value) ?? "nothing"
}

/** The digest of a world. */
export const of = async (world: World): Promise<string> => {
  const hash = createHash("sha256")
  const add = (part: string, value: unknown): void => void hash.update(`${part} ${JSON.stringify(value) ?? "nothing"}\n`)
  for (const [number, name] of world.names.entries()) {
    const space = await world.space(number)
    if (space === undefined) continue
    // The head of the chain names the bytes of all entries before it.
    const head = await world.run(Effect.flatMap(space.head, space.journal))
    add(`journal ${name}`, head === undefined ? undefined : textOf(head))
    for (const { id, space: own } of world.acknowledged) {
      if (own !== name) continue
      const receipt = await world.run(space.receipt(id))
      add(`receipt ${id}`, receipt === undefined ? undefined : textOf(receipt))
    }
  }
  add("attempts", world.bank.attempts)
  add("effects", [...world.bank.effects])
  add("answers", world.answers)
  return hash.digest("hex").slice(0, 16)
}
