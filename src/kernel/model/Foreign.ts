/**
 * Foreign changes: what other writers made of a space's cells.
 *
 * They come as notifications, are captured like all control input, and go
 * through the one channel by which a beat's own changes go: only who read a value
 * that differs now becomes invalid. Who writes from outside may do so under a
 * group, and then whoever watches under the same group does not hear of it.
 * (Architecture, sections 3 and 6; seed 002, P5 and section 6.1.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import { InvalidValue } from "../../cell/Value.ts"
import { CellLocked } from "../../ledger/LedgerError.ts"
import type { Draft } from "../../stage/Draft.ts"
import * as Envelope from "../../stage/Envelope.ts"
import * as Write from "../../stage/Write.ts"
import { lockOver, type Regime } from "./Regime.ts"
import { WriteRefused } from "./SpaceError.ts"

/** Most changes of one notification. */
export const MAX_CHANGES = 10_000

/** What another writer made of one place; `undefined` where there is nothing any more. */
export interface ForeignChange {
  readonly address: string
  readonly value: unknown
}

/**
 * What another writer did, all of it or nothing: `pull` brings what was not here yet, `integrate` what was
 * committed there, and `revert` what holds again where a change did not stand.
 *
 * A revert has no group: who did not hear of its own change has to hear that it was taken back.
 *
 * @category models
 * @since 0.1.0
 */
export type Foreign =
  | { readonly kind: "pull" | "integrate"; readonly changes: ReadonlyArray<ForeignChange>; readonly group?: string | undefined }
  | { readonly kind: "revert"; readonly changes: ReadonlyArray<ForeignChange>; readonly group?: undefined }

/** A notification as it waits for its beat. */
export interface Notice {
  readonly kind: Foreign["kind"]
  readonly writes: ReadonlyArray<Write.Write & { readonly kind: "set" }>
  readonly group: string | undefined
}

/** What one document became in a beat by somebody's writes from outside, under a group. */
export interface Step {
  readonly before: Document | undefined
  readonly after: Document | undefined
  readonly group: string
}

/** The steps of a beat, by document, in order. */
export type Steps = Map<string, Array<Step>>

const groupPattern = /^[\w.:-]{1,128}$/

/**
 * A place that the outside may write.
 *
 * @throws InvalidAddress, WriteRefused
 * @category constructors
 * @since 0.1.0
 */
export const place = (text: string): Address.Address => {
  const address = Address.parse(text)
  if (Envelope.isReserved(address.id)) {
    throw new WriteRefused({ address: text, reason: "it belongs to the runtime. Use the verb that is made for it" })
  }
  return address
}

/**
 * A group's name, checked.
 *
 * @throws WriteRefused
 * @category constructors
 * @since 0.1.0
 */
export const groupOf = (group: string | undefined, address: string): string | undefined => {
  if (group === undefined || groupPattern.test(group)) return group
  throw new WriteRefused({ address, reason: "its group is not 1 to 128 letters, digits, _, ., : or -; give it such a name" })
}

/**
 * A notification, checked.
 *
 * @throws InvalidAddress, InvalidValue, WriteRefused
 * @category constructors
 * @since 0.1.0
 */
export const notice = ({ changes, group, kind }: Foreign): Notice => {
  const first = changes[0]?.address ?? "/"
  if (changes.length > MAX_CHANGES) {
    throw new WriteRefused({ address: first, reason: `it is one of ${changes.length} changes, and one notification has at most ${MAX_CHANGES}. Send several` })
  }
  if (kind === "revert" && group !== undefined) {
    throw new WriteRefused({ address: first, reason: "a revert has no group, because the group has to hear of it. Leave it out" })
  }
  return { kind, writes: changes.map(({ address, value }) => Write.set(place(address), value)), group: groupOf(group, first) }
}

/**
 * Puts what another writer did into the capture transaction, all of it or nothing; answers why not, where it cannot.
 *
 * What it names is where it lies: links are not followed, they are among what is written.
 *
 * @category combinators
 * @since 0.1.0
 */
export const integrate = (draft: Draft, { group, writes }: Notice, { regime, steps }: { readonly regime: Regime; readonly steps: Steps }): InvalidValue | WriteRefused | CellLocked | undefined => {
  const made = new Map<string, Document | undefined>()
  const before = new Map<string, Document | undefined>()
  let at = ""
  try {
    for (const write of writes) {
      const { id, key } = write.address
      at = write.address.text
      const lock = lockOver(regime, id)
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

/** Keeps what a write under a group made of a document, where it changed it. */
export const note = (steps: Steps, key: string, { after, before, group }: { readonly before: Document | undefined; readonly after: Document | undefined; readonly group: string | undefined }): void => {
  if (group === undefined || before?.text === after?.text) return
  const step = { before, after, group }
  const here = steps.get(key)
  if (here === undefined) steps.set(key, [step])
  else here.push(step)
}

/**
 * What of a beat's change somebody in a group has to hear of: the parts that others made.
 *
 * @category getters
 * @since 0.1.0
 */
export const others = (steps: ReadonlyArray<Step>, group: string, whole: Pick<Step, "before" | "after">): ReadonlyArray<Pick<Step, "before" | "after">> => {
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

