/**
 * The mode of a space: running, paused, halted or in a rollback, and its locks.
 *
 * The mode derives from cells, so it survives the process.
 *
 *     /sys/state/control    { verb, oid, step, to? }   the lifecycle operation in progress
 *     /sys/state/gated      true while only control work runs
 *     /sys/state/paused     true from the end of a pause to the next resume
 *     /sys/state/halted     true from the end of a shutdown to the next restart
 *     /sys/state/view_hzn   the target beat of a rollback, until the next resume
 *     /sys/state/boot_oid, /sys/state/shdn_oid   the newest boot and shutdown
 *     /sys/state/born       the incarnation: a text that no other space of this name has or had
 *     /sys/state/detached   { why, from, beat, last } from the arrival of a copy to its release: nothing goes out of it
 *     /sys/state/copied     the number of the newest queued signal of the original, whose signals to other spaces a copy never sends
 *     /sys/state/dropped    { outbox?, timers?, until? }   what a release dropped: signals to other spaces and delayed ones up to a number,
 *                           and the due times of schedules up to a clock
 *     /sys/locks/<cell>     { by, beat }   a cell below which writes are refused
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type * as Control from "../../contract/Control.ts"
import type { Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"

/** The lifecycle requests of a space. */
export type Verb = "boot" | "shutdown" | "pause" | "rollback" | "resume"

/** A lifecycle operation in progress. */
export interface LifecycleProgress {
  readonly verb: Verb
  readonly oid: string
  /** The number of states passed after the first. */
  readonly step: number
  /** For a rollback: the target beat. */
  readonly to?: number
  /** While it waits for work in progress: the beat and the time of its deadline. */
  readonly until?: { readonly beat: number; readonly moment: number }
}

/**
 * The state of a space that arrived by an import and was not released. Beats, nodes, pulls and streams run; no request, no signal to
 * another space, no delivery of a reaction, no schedule and no delayed signal does.
 */
export interface Detached {
  readonly why: "copy" | "restore"
  /** The name of the exported space, with its incarnation. */
  readonly from: string
  /** Its newest beat. */
  readonly beat: number
  /** The number of the newest queued signal that came with it. */
  readonly last: number
}

/** A kind of work that leaves a space, and that a release may drop. */
export type Drop = (typeof Control.drops)[number]

/** The limits of the work that releases dropped. */
export interface Dropped {
  /** The number of the newest queued signal for another space that is a dead letter in place of a delivery. */
  readonly outbox?: number
  /** The number of the newest delayed signal that is discarded. */
  readonly timers?: number
  /** The clock up to which due times of schedules have no event. */
  readonly until?: number
}

/**
 * The mode of a space.
 */
export interface SpaceMode {
  readonly control: LifecycleProgress | undefined
  readonly gated: boolean
  readonly paused: boolean
  readonly halted: boolean
  readonly view_hzn: number | undefined
  readonly boot_oid: string | undefined
  readonly shdn_oid: string | undefined
  /** The incarnation; `undefined` in a space that was created without one, or does not boot. */
  readonly born: string | undefined
  readonly detached: Detached | undefined
  /** The number up to which signals to other spaces are those of the original; `undefined` in a space that is no copy. */
  readonly copied: number | undefined
  readonly dropped: Dropped | undefined
  /** The holder of each locked cell. */
  readonly locks: ReadonlyMap<string, string>
}

/** Stands for the holder of a lock requested from outside. */
export const OUTSIDE = "(outside)"

/** The folder of locks. */
const LOCKS = "/sys/locks"

/** The most requested locks of a space; that of a pause is not counted. */
export const MAX_LOCKS = 1000

/** The mode of a running space without locks. */
export const open: SpaceMode = {
  control: undefined,
  gated: false,
  paused: false,
  halted: false,
  view_hzn: undefined,
  boot_oid: undefined,
  shdn_oid: undefined,
  born: undefined,
  detached: undefined,
  copied: undefined,
  dropped: undefined,
  locks: new Map()
}

/** The name of a field with a cell of its own. */
export type Part = Exclude<keyof SpaceMode, "locks">

/** The cell of a field. */
export const address = (part: Part): Address.Address => Address.make(`/sys/state/${part}`)

/**
 * The cell of a lock.
 *
 * @throws InvalidAddress
 */
export const lockAddress = (cell: string): Address.Address => Address.parse(`${LOCKS}${cell}`)

/** The cell that a lock is on. */
export const cellOf = (lock: string): string => lock.slice(LOCKS.length)

/** Whether a document is a lock. Signals that wait for it wait until it is removed. */
export const isLock = (key: string): boolean => key.startsWith(`${LOCKS}/`)

/**
 * The nearest lock above a cell; `undefined` if there is none.
 */
export const lockOver = ({ locks }: SpaceMode, id: string): string | undefined => {
  if (locks.size === 0) return undefined
  for (let cell = id; cell !== "/"; cell = Address.parent(cell)) if (locks.has(cell)) return cell
  return undefined
}

/** Whether a lifecycle operation is in progress that does not wait. It takes one step in each beat. */
export const isAdvancing = ({ control }: SpaceMode): boolean => control !== undefined && control.until === undefined

/** Whether the times of schedules and of delayed signals wait. */
export const waits = ({ detached, gated }: SpaceMode): boolean => gated || detached !== undefined

/** Whether a rollback is in progress: signals are discarded and the journal is read back, until the cutover. */
export const isPlanning = ({ control }: SpaceMode): boolean => control?.verb === "rollback" && control.step === 1

/** The state of the space in one word; `gated` while a pause or a shutdown is in progress. */
export const stateOf = ({ gated, halted, paused }: SpaceMode): "running" | "gated" | "paused" | "halted" =>
  halted ? "halted" : paused ? "paused" : gated ? "gated" : "running"

/** Whether the lock of a document is held. */
export const holds = ({ locks }: SpaceMode, key: string): boolean => locks.has(cellOf(key))

/**
 * The mode from a space's cells.
 */
export const read = (store: Pick<SpaceStore, "below">, documents: {
  readonly read: (key: string) => Document.Document | undefined
}): SpaceMode => {
  const value = (key: string): Value => Document.read(documents.read(key), [])
  const part = <A>(name: Part): A | undefined => value(address(name).key) as A | undefined
  const locks = new Map<string, string>()
  for (const key of store.below(LOCKS, { limit: MAX_LOCKS + 1 })) {
    locks.set(cellOf(key), (value(key) as unknown as { readonly by: string }).by)
  }
  return {
    control: part("control"),
    gated: part("gated") ?? false,
    paused: part("paused") ?? false,
    halted: part("halted") ?? false,
    view_hzn: part("view_hzn"),
    boot_oid: part("boot_oid"),
    shdn_oid: part("shdn_oid"),
    born: part("born"),
    detached: part("detached"),
    copied: part("copied"),
    dropped: part("dropped"),
    locks
  }
}

/**
 * The origin of what a space sends and asks: its name, with its incarnation. Receivers recognize a repetition by it.
 *
 * A space that is removed and created again has the same ids again. Its origin tells them from those of the space before.
 */
export const origin = ({ born }: Pick<SpaceMode, "born">, space: string): string => born === undefined ? space : `${space}@${born}`

/** The name of a space in its origin. */
export const nameOf = (origin: string): string => origin.replace(/@[0-9a-f]+$/, "")
