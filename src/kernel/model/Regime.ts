/**
 * The regime of a space: what it lets happen now.
 *
 * It follows from cells, so it outlives the process: which control operation is
 * under way, whether the gate is closed, and what is locked.
 *
 *     /sys/state/control    { verb, oid, step, to? }   the control operation under way
 *     /sys/state/gated      true while only what has to do with control runs
 *     /sys/state/paused     true from the end of a pause to the next resume
 *     /sys/state/halted     true from the end of a shutdown to the next restart
 *     /sys/state/view_hzn   the beat that was rolled back to, until the next resume
 *     /sys/state/boot_oid, /sys/state/shdn_oid   the newest boot and shutdown
 *     /sys/locks/<cell>     { by, beat }   a cell below which nothing is written
 *
 * (Semantics, section 3.1.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"

/** What can be asked of a space as a whole. */
export type Verb = "boot" | "shutdown" | "pause" | "rollback" | "resume"

/** A control operation under way. */
export interface Steer {
  readonly verb: Verb
  readonly oid: string
  /** How many states it has come through after the first. */
  readonly step: number
  /** For a rollback: the beat to go back to. */
  readonly to?: number
}

/**
 * What a space lets happen.
 *
 * @category models
 * @since 0.1.0
 */
export interface Regime {
  readonly control: Steer | undefined
  readonly gated: boolean
  readonly paused: boolean
  readonly halted: boolean
  readonly view_hzn: number | undefined
  readonly boot_oid: string | undefined
  readonly shdn_oid: string | undefined
  /** Who holds each cell that is locked. */
  readonly locks: ReadonlyMap<string, string>
}

/** Stands for the holder of a lock that was asked for from outside. */
export const OUTSIDE = "(outside)"

/** Where locks lie. */
const LOCKS = "/sys/locks"

/** Most locks of a space that are asked for; that of a pause is beside them. */
export const MAX_LOCKS = 1000

/** A space in which nothing is out of the ordinary. */
export const open: Regime = {
  control: undefined,
  gated: false,
  paused: false,
  halted: false,
  view_hzn: undefined,
  boot_oid: undefined,
  shdn_oid: undefined,
  locks: new Map()
}

/** The name of a part that lies in a cell of its own. */
export type Part = Exclude<keyof Regime, "locks">

/** The cell of a part. */
export const address = (part: Part): Address.Address => Address.make(`/sys/state/${part}`)

/**
 * The cell of a lock.
 *
 * @throws InvalidAddress
 */
export const lockAddress = (cell: string): Address.Address => Address.parse(`${LOCKS}${cell}`)

/** Whether a document is a lock: what waits for it waits until it is gone. */
export const isLock = (key: string): boolean => key.startsWith(`${LOCKS}/`)

/**
 * The lock that holds a cell, the nearest above it; `undefined` where none does.
 *
 * @category getters
 * @since 0.1.0
 */
export const lockOver = ({ locks }: Regime, id: string): string | undefined => {
  if (locks.size === 0) return undefined
  for (let cell = id; cell !== "/"; cell = Address.parent(cell)) if (locks.has(cell)) return cell
  return undefined
}

/** Whether a rollback is at work: what is to be discarded is, and the journal is read back, until the cutover. */
export const isPlanning = ({ control }: Regime): boolean => control?.verb === "rollback" && control.step === 1

/** Whether the lock that a document stands for is held. */
export const holds = ({ locks }: Regime, key: string): boolean => locks.has(key.slice(LOCKS.length))

/**
 * The regime that a space's cells tell of.
 *
 * @category constructors
 * @since 0.1.0
 */
export const recall = (store: Pick<SpaceStore, "below">, documents: { readonly read: (key: string) => Document.Document | undefined }): Regime => {
  const value = (key: string): Value => Document.read(documents.read(key), [])
  const part = <A>(name: Part): A | undefined => value(address(name).key) as A | undefined
  const locks = new Map<string, string>()
  for (const key of store.below(LOCKS, { limit: MAX_LOCKS + 1 })) locks.set(key.slice(LOCKS.length), (value(key) as unknown as { readonly by: string }).by)
  return {
    control: part("control"),
    gated: part("gated") ?? false,
    paused: part("paused") ?? false,
    halted: part("halted") ?? false,
    view_hzn: part("view_hzn"),
    boot_oid: part("boot_oid"),
    shdn_oid: part("shdn_oid"),
    locks
  }
}
