/**
 * The calls of a durable run that write.
 *
 * A run knows the places that it wrote itself. In a live segment the draft has them; in a recorded one they follow from the
 * arguments of the body and the address that the log has.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import { addressOf, type Place, textAt } from "../cell/Cell.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Write from "../stage/write/Write.ts"
import type { Call } from "./Step.ts"

/** The most of a write that a run needs to know afterwards. */
export type OwnWrite = Pick<Write.Write, "address" | "kind"> & Partial<Pick<Extract<Write.Write, { readonly kind: "set" }>, "document">>

/** A call that writes. */
export interface WriteCall {
  readonly name: "set" | "merge" | "append" | "increment" | "delete"
  readonly at: string
  /** Makes the call. */
  readonly act: (draft: Draft) => void
  /** Its writes, at the address that it reached over links. */
  readonly writesAt: (reached: Address.Address) => ReadonlyArray<OwnWrite>
}

export const set = (place: Place, value: unknown): WriteCall => ({
  name: "set",
  at: textAt(place),
  act: (draft) => draft.set(place, value),
  writesAt: (reached) => [Write.set(reached, value)]
})

export const remove = (place: Place): WriteCall => ({ ...set(place, undefined), name: "delete" })

export const merge = (place: Place, fields: { readonly [key: string]: unknown }): WriteCall => ({
  name: "merge",
  at: textAt(place),
  act: (draft) => draft.merge(place, fields),
  writesAt: (reached) => Object.keys(fields).map((key) => Write.set(Address.into(reached, [key]), fields[key]))
})

export const append = (place: Place, items: ReadonlyArray<unknown>): WriteCall => ({
  name: "append",
  at: textAt(place),
  act: (draft) => draft.append(place, ...items),
  writesAt: (address) => [{ kind: "append", address }]
})

export const increment = (place: Place, by: number | undefined): WriteCall => ({
  name: "increment",
  at: textAt(place),
  act: (draft) => draft.increment(place, by),
  writesAt: (address) => [{ kind: "increment", address }]
})

/** The writes of a recorded call. */
export const recorded = ({ at, writesAt }: WriteCall, [, , , reached = at]: Call): ReadonlyArray<OwnWrite> => writesAt(addressOf(reached))

/** The call for the log, with the address that it reached if that is another one. `made` is its first write. */
export const logged = ({ at, name }: WriteCall, made: Write.Write | undefined): Call => {
  if (made === undefined) return [name, at]
  const { address } = made
  const { text } = name === "merge" ? Address.make(address.id, { scope: address.scope, path: address.path.slice(0, -1) }) : address
  return text === at ? [name, at] : [name, at, null, text]
}
