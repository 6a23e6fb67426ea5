/**
 * External changes: changes by other writers to a space's cells.
 *
 * They arrive as notifications, are captured like all control input, and pass
 * through the same change channel as a beat's own changes. Only readers of a value
 * that differs become invalid [S2 §6.1]. A writer may name a group; watchers under
 * that group are not notified of its writes.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import { InvalidValue } from "../../cell/Value.ts"
import { CellLocked } from "../../ledger/LedgerError.ts"
import type { Draft } from "../../stage/Draft.ts"
import * as Envelope from "../../stage/Envelope.ts"
import * as Write from "../../stage/write/Write.ts"
import { lockOver, type SpaceMode } from "./SpaceMode.ts"
import { WriteRefused } from "./SpaceError.ts"

/** The most changes of one notification. */
export const MAX_CHANGES = 10_000

/** A change of one place; `undefined` if it was removed. */
export interface ChangedPlace {
  readonly address: string
  readonly value: unknown
}

/**
 * The changes of another writer, applied atomically. `pull` brings values that were absent here, `integrate` brings
 * changes committed elsewhere, and `revert` restores values after a rejected change.
 *
 * A revert has no group: a watcher that was not notified of its own change must be notified of its reversal.
 *
 * @category models
 * @since 0.1.0
 */
export type ExternalChange =
  | { readonly kind: "pull" | "integrate"; readonly changes: ReadonlyArray<ChangedPlace>; readonly group?: string | undefined }
  | { readonly kind: "revert"; readonly changes: ReadonlyArray<ChangedPlace>; readonly group?: undefined }

/** A queued notification. */
export interface Notice {
  readonly kind: ExternalChange["kind"]
  readonly writes: ReadonlyArray<Write.Write & { readonly kind: "set" }>
  readonly group: string | undefined
}

/** The change of one document in a beat by one write from outside under a group. */
export interface Step {
  readonly before: Document | undefined
  readonly after: Document | undefined
  readonly group: string
}

/** The steps of a beat, by document, in order. */
export type Steps = Map<string, Array<Step>>

const groupPattern = /^[\w.:-]{1,128}$/

/**
 * A place that may be written from outside.
 *
 * @throws InvalidAddress, WriteRefused
 */
export const place = (text: string): Address.Address => {
  const address = Address.parse(text)
  if (Envelope.isReserved(address.id)) {
    throw new WriteRefused({ address: text, reason: "it belongs to the runtime. Use the verb that is made for it" })
  }
  return address
}

/**
 * A validated group name.
 *
 * @throws WriteRefused
 */
export const groupOf = (group: string | undefined, address: string): string | undefined => {
  if (group === undefined || groupPattern.test(group)) return group
  throw new WriteRefused({ address, reason: "its group is not 1 to 128 letters, digits, _, ., : or -; give it such a name" })
}

/**
 * A validated notification.
 *
 * @throws InvalidAddress, InvalidValue, WriteRefused
 */
export const notice = ({ changes, group, kind }: ExternalChange): Notice => {
  const first = changes[0]?.address ?? "/"
  if (changes.length > MAX_CHANGES) {
    throw new WriteRefused({
      address: first,
      reason: `it is one of ${changes.length} changes, and one notification has at most ${MAX_CHANGES}. Send several`
    })
  }
  if (kind === "revert" && group !== undefined) {
    throw new WriteRefused({ address: first, reason: "a revert has no group, because the group has to hear of it. Leave it out" })
  }
  return { kind, writes: changes.map(({ address, value }) => Write.set(place(address), value)), group: groupOf(group, first) }
}

/**
 * Applies the changes of another writer to the capture transaction, atomically. Returns the reason of a refusal.
 *
 * Addresses are taken literally: links are not followed, because they may be among the changes.
 */
export const integrate = (draft: Draft, { group, writes }: Notice, { mode, steps }: {
  readonly mode: SpaceMode
  readonly steps: Steps
}): InvalidValue | WriteRefused | CellLocked | undefined => {
  const made = new Map<string, Document | undefined>()
  const before = new Map<string, Document | undefined>()
  let at = ""
  try {
    for (const write of writes) {
      const { id, key } = write.address
      at = write.address.text
      const lock = lockOver(mode, id)
      if (lock !== undefined) return new CellLocked({ address: at, lock })
      if (!before.has(key)) before.set(key, draft.visible(key))
      const document = made.has(key) ? made.get(key) : before.get(key)
      made.set(key, Write.apply(document, Write.meet(document, write)))
    }
    draft.place(made)
  } catch (error) {
    return error instanceof InvalidValue ? error : new WriteRefused({ address: at, reason: (error as Error).message })
  }
  for (const [key, after] of made) note(steps, key, { before: before.get(key), after, group })
  return undefined
}

/** Records the change of a document by a write under a group. */
export const note = (steps: Steps, key: string, { after, before, group }: {
  readonly before: Document | undefined
  readonly after: Document | undefined
  readonly group: string | undefined
}): void => {
  if (group === undefined || before?.text === after?.text) return
  const step = { before, after, group }
  const here = steps.get(key)
  if (here === undefined) steps.set(key, [step])
  else here.push(step)
}

/**
 * The parts of a beat's change that a watcher in a group is notified of: those by other writers.
 */
export const others = (
  steps: ReadonlyArray<Step>,
  group: string,
  whole: Pick<Step, "before" | "after">
): ReadonlyArray<Pick<Step, "before" | "after">> => {
  const parts: Array<Pick<Step, "before" | "after">> = []
  let { before } = whole
  for (const step of steps) {
    parts.push({ before, after: step.before })
    if (step.group !== group) parts.push(step)
    before = step.after
  }
  parts.push({ before, after: whole.after })
  return parts.filter(({ after, before }) => before?.text !== after?.text)
}

