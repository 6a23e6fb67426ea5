/**
 * The limits of a host.
 *
 * A process has the limits of the configuration. An object of Cloudflare has little memory and a bounded storage, so there
 * they have upper bounds, and a configured limit above its bound has no effect.
 *
 * @module
 */
import * as Limits from "../../kernel/model/Limits.ts"

/** The upper bounds of a host. */
export interface Bounds {
  /** Whether the limits have the bounds of objects. */
  readonly isObject: boolean
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
 * The bounds of each host. An object has 10 GB of storage. A process opens its spaces when it starts; an object sleeps until its alarm.
 */
export const hosts = {
  process: {
    isObject: false,
    storageBytes: undefined,
    restMillis: Infinity,
    heldMillis: undefined,
    socketCharacters: undefined
  },
  object: {
    isObject: true,
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
 */
export const bound = (limits: Limits.Limits, { isObject }: Bounds): Limits.Limits =>
  isObject ? Limits.each(({ object }, name) => bounded(limits[name], object)) : limits

const bounded = (limit: number, bound = limit): number => bound === Infinity ? bound : Math.min(bound, limit)

/**
 * Whether a store of this size takes no new data.
 */
export const isFull = (bytes: number, { storageBytes = Infinity }: Bounds): boolean => bytes >= FULL * storageBytes
