/**
 * The lease of a control file: the lock `<file>.lock`, which names its owner.
 *
 * A wake holds it while it reads and writes, and `agent run` as long as it lives. The lock of a dead process of this computer
 * is taken over at once, on Linux also if another process has its number, as after the restart of a container. The lock of a
 * live one is never taken over, as far as the host tells that it is the same process. Any other lock, such as one of another
 * computer or an empty one, is taken over if it was not renewed for {@link LEASE_MILLIS}. Both times of this comparison are
 * those of the file system, because the clocks of two computers differ. A holder looks at its lock before each write.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import { isSame } from "../text/Bytes.ts"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Disk, type DiskFailed } from "systole/cli"

/** The longest wait for a lock, in milliseconds. */
export const WAIT_MILLIS = 30_000

/** The age at which a lock without a sign of its owner is taken over, in milliseconds. */
export const LEASE_MILLIS = 300_000

/** The time between two renewals of a lock. */
const RENEWAL = "30 seconds"

/** The time between two looks at a lock, in milliseconds. */
const LOOK_MILLIS = 250

const Owner = Schema.Struct({
  pid: Schema.Int,
  host: Schema.String,
  born: Schema.optionalKey(Schema.String),
  /** `run`: it is held as long as the process lives. */
  kind: Schema.Literals(["wake", "run"]),
  /** The time at which it was taken, in milliseconds since 1970. */
  at: Schema.Int
})

/**
 * The owner of a lock.
 */
export type Owner = typeof Owner.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Owner))

/**
 * Another process holds the lease.
 */
export class LeaseTaken extends Data.TaggedError("LeaseTaken")<{ readonly path: string; readonly owner: string }> {
  readonly code = "agent/locked"
  override get message() {
    return `${this.path} is in use by ${this.owner}. Wait for that process or end it; if it is gone, remove ${this.path}.lock`
  }
}

/**
 * Another process has taken over the lease, or a person has removed the lock.
 */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{ readonly path: string }> {
  readonly code = "agent/lease-lost"
  override get message() {
    return `${this.path} is no longer in use by this process: its lock was not renewed for ${LEASE_MILLIS / 60_000} minutes, as after ` +
      "a suspension, or was removed. Nothing more was begun or written; start the agent again"
  }
}

const nameOf = (bytes: Uint8Array): string => {
  const found = decode(new TextDecoder().decode(bytes))
  if (found._tag === "None") return "an unknown process, because its lock is not readable"
  const { at, host, kind, pid } = found.value
  return `process ${pid} on ${host} (systole agent ${kind}) since ${new Date(at).toISOString()}`
}

/** Whether a lock may be taken over: its owner is dead, or it is old, and no living process is known to be its owner. */
const isStale = Effect.fnUntraced(function*(lock: string, bytes: Uint8Array, own: Own) {
  const disk = yield* Disk
  const found = Option.getOrUndefined(decode(new TextDecoder().decode(bytes)))
  const isAlive = found === undefined ? undefined : disk.isAlive(found)
  if (isAlive === false) return true
  if (isAlive === true && found?.born !== undefined) return false
  yield* disk.renew(own.file, own.bytes)
  const [now, renewed] = [yield* disk.modified(own.file), yield* disk.modified(lock)]
  return now !== undefined && renewed !== undefined && now - renewed >= LEASE_MILLIS
})

const isRun = (disk: Disk["Service"], bytes: Uint8Array): boolean => {
  const found = decode(new TextDecoder().decode(bytes))
  return found._tag === "Some" && found.value.kind === "run" && disk.isAlive(found.value) !== false
}

/** A lock that this process has written below a name of its own, so that it appears under another one as a whole. */
interface Own {
  readonly file: string
  readonly bytes: Uint8Array
}

/** Removes the files of processes that ended while they waited for the lock, or held it. */
const sweep = Effect.fnUntraced(function*(path: string, own: Own) {
  const disk = yield* Disk
  const [folder, name] = disk.split(path)
  for (const each of yield* disk.list(folder)) {
    const file = disk.join(folder, each)
    if (file === own.file || !each.startsWith(`${name}.lock.`) || !/^\d+$/.test(each.slice(name.length + 6))) continue
    const bytes = yield* disk.read(file)
    if (bytes !== undefined && (yield* isStale(file, bytes, own))) yield* disk.remove(file)
  }
})

/**
 * Removes a stale lock. A second lock, `<file>.lock.take`, lets one process at a time do so, and the owner is read again
 * below it. So no process removes the lock that another one has just taken.
 */
const takeOver = Effect.fnUntraced(function*(lock: string, stale: Uint8Array, own: Own) {
  const disk = yield* Disk
  const taking = `${lock}.take`
  if (!(yield* disk.link(own.file, taking))) {
    const other = yield* disk.read(taking)
    if (other !== undefined && (yield* isStale(taking, other, own))) yield* disk.remove(taking)
    return
  }
  const present = yield* disk.read(lock)
  if (present !== undefined && isSame(stale, present) && (yield* isStale(lock, present, own))) yield* disk.remove(lock)
  yield* disk.remove(taking)
})

/** A look at a lease that is held. It fails if another process has it, or no one. */
export type Check = Effect.Effect<void, DiskFailed | LeaseLost>

/**
 * Takes the lease until the scope closes, and renews it meanwhile. Waits at most {@link WAIT_MILLIS} for a wake, and not at all
 * for a live `agent run`. Returns the check that comes before each write.
 */
export const take = Effect.fn("Lease.take")(function*(
  { path }: { readonly path: string },
  kind: Owner["kind"]
): Effect.fn.Return<Check, DiskFailed | LeaseTaken, Disk | Scope.Scope> {
  const disk = yield* Disk
  const lock = `${path}.lock`
  const start = yield* Clock.currentTimeMillis
  const bytes = new TextEncoder().encode(`${JSON.stringify({ ...disk.process, kind, at: start })}\n`)
  const own = { file: `${lock}.${disk.process.pid}`, bytes }
  yield* disk.remove(own.file)
  yield* Effect.acquireRelease(disk.create(own.file, bytes), () => Effect.ignore(disk.remove(own.file)))
  for (;;) {
    const isTaken = yield* Effect.acquireRelease(disk.link(own.file, lock), (isLinked) =>
      isLinked ? release(disk, lock, own) : Effect.void)
    if (isTaken) {
      yield* sweep(path, own)
      const isHeld = Effect.map(disk.read(lock), (found) => isSame(bytes, found))
      // A renewal that fails leaves the lease as it was, and each write looks at it before.
      const renewal = Effect.ignoreCause(disk.renew(lock, bytes))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(RENEWAL), renewal)))
      return Effect.flatMap(isHeld, (is) => is ? Effect.void : Effect.fail(new LeaseLost({ path })))
    }
    const other = yield* disk.read(lock)
    if (other === undefined) continue
    if (yield* isStale(lock, other, own)) {
      yield* takeOver(lock, other, own)
      continue
    }
    const isLate = (yield* Clock.currentTimeMillis) - start >= WAIT_MILLIS
    if (isLate || isRun(disk, other)) return yield* new LeaseTaken({ path, owner: nameOf(other) })
    yield* Effect.sleep(LOOK_MILLIS)
  }
})

/** Removes the lock, unless another process has taken it over. */
const release = (disk: Disk["Service"], lock: string, { bytes }: Own): Effect.Effect<void> =>
  Effect.ignore(Effect.flatMap(disk.read(lock), (found) => isSame(bytes, found) ? disk.remove(lock) : Effect.void))
