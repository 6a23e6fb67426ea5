/**
 * The port of a control file: its bytes, their replacement, and the copies that are kept beside it.
 *
 * A wake is the same over each store. `FileStore` keeps the bytes in a file of a disk, and `CellStore` in a cell of the space.
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { DiskFailed } from "systole/cli"
import type { Action } from "../document/Action.ts"
import type { LeaseLost, LeaseTaken, Owner } from "./Lease.ts"

/** The place of a control file. */
export interface Place {
  /** The path without symbolic links, or the cell. */
  readonly path: string
  /** The key of the file in the ledger: the first half of the SHA-256 of its path. */
  readonly key: string
}

/** A time as `20240115-103000`, of which the names of copies consist. */
export const stamp = (millis: number): string =>
  new Date(millis).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")

/** The end of a write: the bytes were replaced, or a person had changed them before. */
export type WriteResult =
  | { readonly _tag: "Replaced"; /** The conflict copy of a save that came during the write. */ readonly conflict: string | undefined }
  | { readonly _tag: "Changed" }

/** The end of a restore. Without valid bytes, or if a person saved meanwhile, the file stays as it is. */
export type RestoreResult =
  | { readonly _tag: "Restored"; /** The copy with the other bytes. */ readonly copy: string | undefined }
  | { readonly _tag: "Changed" }
  | { readonly _tag: "Unknown" }

/** The facts of a moment on which conditions and schedules depend. */
export interface WakeFacts {
  readonly files: ReadonlySet<string>
  readonly variables: ReadonlySet<string>
  /** The digests of watched paths by the ids of actions. */
  readonly digests: ReadonlyMap<string, string>
}

/** The failures of a write: of the disk, or of a lease that another process has taken over. */
export type StoreFailed = DiskFailed | LeaseLost

/**
 * The store of one control file.
 */
export class ControlStore extends Context.Service<ControlStore, {
  /** The sentence about the way to a valid version of a file that is damaged. */
  readonly remedy: string
  readonly place: Place
  /** Takes the lease until the scope closes, so that no other wake of the file begins meanwhile. */
  readonly lease: (kind: Owner["kind"]) => Effect.Effect<void, DiskFailed | LeaseTaken, Scope.Scope>
  /** Fails if the lease that was taken is lost. It comes before what another wake must not meet, and each write begins with it. */
  readonly held: Effect.Effect<void, StoreFailed>
  /** Removes leftovers of earlier writes. Returns the conflict copies that it made of them. */
  readonly tend: Effect.Effect<ReadonlyArray<string>, StoreFailed>
  /** A text that changes with each save; `undefined` if the file is absent. */
  readonly version: Effect.Effect<string | undefined, DiskFailed>
  /** The bytes; `undefined` if the file is absent. */
  readonly read: Effect.Effect<Uint8Array | undefined, DiskFailed>
  /** Waits until a save in progress has ended. A file that is absent or empty may be in the middle of one. */
  readonly settle: Effect.Effect<void>
  /** Replaces the bytes if they are still `from`. The caller holds the lease. */
  readonly replace: (from: Uint8Array, to: Uint8Array) => Effect.Effect<WriteResult, StoreFailed>
  /** Whether a path of `on_change` is that of the control file. */
  readonly isFile: (path: string) => boolean
  /** Keeps the bytes from before the writes of a wake. */
  readonly backUp: (bytes: Uint8Array) => Effect.Effect<void, StoreFailed>
  /** Notes the newest valid bytes that the agent saw. Equal ones are not written again. */
  readonly noteValid: (bytes: Uint8Array) => Effect.Effect<void, StoreFailed>
  /** Puts the latest valid bytes in the place of `from`, or of an absent file, and keeps `from` as a copy. */
  readonly restore: (from: Uint8Array | undefined) => Effect.Effect<RestoreResult, StoreFailed>
  /** The names of conflict copies and damaged copies, in code-unit order. */
  readonly copies: Effect.Effect<ReadonlyArray<string>, DiskFailed>
  /** Captures the facts on which actions depend. */
  readonly capture: (actions: ReadonlyArray<Action>) => Effect.Effect<WakeFacts, DiskFailed>
}>()("systole/agent/ControlStore") {}
