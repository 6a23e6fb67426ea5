/**
 * The limits that differ between hosts.
 *
 * A process has the limits of the configuration. An object of Cloudflare has little memory and a bounded storage, so there
 * they have upper bounds, and a configured limit above its bound has no effect.
 *
 * @module
 */
import type { Limits } from "../kernel/model/Limits.ts"

const MIB = 1_048_576

/** The upper bounds of a host. */
export interface Bounds {
  readonly limits: Partial<Limits>
  /** The limits that are not applied. */
  readonly unbounded: ReadonlyArray<keyof Limits>
  /** The bytes of one store; `undefined` for what the disk holds. */
  readonly storageBytes: number | undefined
  /** The longest timer of a resting space, in milliseconds. The host's alarm opens it after longer waits. */
  readonly restMillis: number
  /** A space with held work is opened after one to two of these periods, to look for its code; `undefined` for each start of the host. */
  readonly heldMillis: number | undefined
  /** The characters that a socket sends before its client confirms some of them; `undefined` without sockets. */
  readonly socketCharacters: number | undefined
}

/**
 * The bounds of each host. An object has 128 MB of memory, which it shares with the code and with the objects beside it,
 * rows of at most 2 MB, and 10 GB of storage. A process opens its spaces when it starts; an object sleeps until its alarm.
 *
 * @category references
 * @since 0.1.0
 */
export const hosts = {
  process: {
    limits: {},
    unbounded: [],
    storageBytes: undefined,
    restMillis: Infinity,
    heldMillis: undefined,
    socketCharacters: undefined
  },
  object: {
    limits: {
      residentBytes: 24 * MIB,
      pastBytes: 32 * MIB,
      inboxBytes: 16 * MIB,
      backlogBytes: 32 * MIB,
      captureBytes: MIB,
      groupBytes: MIB
    },
    // The clock stands still within a turn, so that only the number and the size of its beats bound a group.
    unbounded: ["groupMillis"],
    storageBytes: 10_000_000_000,
    // The platform bills an object as long as it has a timer.
    restMillis: 10_000,
    heldMillis: 1_800_000,
    socketCharacters: 262_144
  }
} satisfies Readonly<Record<"process" | "object", Bounds>>

/** The share of the storage from which new data is refused. The rest is for work that was accepted before. */
const FULL = 0.9

/**
 * The limits of a configuration within the bounds of a host.
 *
 * @category combinators
 * @since 0.1.0
 */
export const within = (limits: Limits, bounds: Bounds): Limits => ({
  ...limits,
  ...Object.fromEntries(Object.entries(bounds.limits).map(([name, bound]) => [name, Math.min(bound, limits[name as keyof Limits])])),
  ...Object.fromEntries(bounds.unbounded.map((name) => [name, Infinity]))
})

/**
 * Whether a store of this size takes no new data.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isFull = (bytes: number, { storageBytes = Infinity }: Bounds): boolean => bytes >= FULL * storageBytes
