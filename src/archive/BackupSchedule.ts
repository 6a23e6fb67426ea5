/**
 * Scheduled backups: one space after the other, each when its newest backup is old enough.
 *
 * The files tell when the next one is due, so a restart changes nothing, and two hosts of one folder share the work. A space whose
 * store has come no further than its newest file is not opened.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Daemon from "../diagnostic/Daemon.ts"
import type { Telemetry } from "../diagnostic/Telemetry.ts"
import { TOPIC } from "../diagnostic/Topic.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { Progress } from "../persistence/Persistence.ts"
import type { PersistenceError } from "../persistence/PersistenceError.ts"
import * as Backup from "./Backup.ts"
import { BackupFailed, type BackupFolder } from "./BackupFolder.ts"
import * as BackupName from "./BackupName.ts"
import type { Encrypt } from "./Encryption.ts"
import type { Maker } from "./Export.ts"

/** The longest time between two looks at which backups are due, in milliseconds: 1 minute. */
const LOOK = 60_000

/** The shortest, in milliseconds. */
const LEAST = 1000

/** The time after a failed backup until the next attempt, unless the next one is due before, in milliseconds: 5 minutes. */
const AGAIN = 300_000

/** The time without a byte after which a backup is given up, in milliseconds: 5 minutes. */
const STALLED = 300_000

/** The time that the end of the schedule leaves to a backup in progress, in milliseconds: 5 seconds. */
const ENDING = 5000

/** The settings of scheduled backups, with times in milliseconds. */
export interface Settings {
  /** The time between two backups of a space. */
  readonly every: number
  /** The age of a snapshot from which on the next backup is another one. */
  readonly full: number
  /** The time for which each state stays available. */
  readonly keep: number
}

/** The services of scheduled backups. */
export interface Parts {
  readonly kernel: Pick<Kernel["Service"], "progress" | "space" | "spaces">
  readonly hash: Hash["Service"]
  readonly folder: BackupFolder
  readonly maker: Maker
  readonly encrypt?: Encrypt | undefined
  readonly telemetry: Pick<Telemetry, "add">
  readonly report: (failure: unknown) => void
}

/**
 * A scheduled backup of a space was not made.
 */
export class BackupMissed extends Data.TaggedError("BackupMissed")<{
  readonly space: string
  readonly failure: unknown
}> {
  readonly code = "backup/failed"
  readonly [TOPIC] = "backup/failed"
  override get message() {
    const message = this.failure instanceof Error ? this.failure.message : String(this.failure)
    return `no backup of space "${this.space}" was made (${codeOf(this.failure) ?? "an unexpected failure"}). ${message}`
  }
}

/**
 * Nothing of a backup moved for a long time: its store or its folder gives no answer.
 */
export class BackupStalled extends Data.TaggedError("BackupStalled")<{ readonly space: string }> {
  readonly code = "backup/stalled"
  override get message() {
    return `Nothing of the backup of space "${this.space}" moved for ${STALLED / 60_000} minutes, so it was given up. ` +
      "See whether its store and the folder of the backups answer"
  }
}

/** The stable code of a failure; `undefined` for an unexpected one. */
const codeOf = (failure: unknown): string | undefined => (failure as { readonly code?: string } | undefined)?.code

/** The codes of spaces that need no backup: one that was removed meanwhile, and one that an import has not made whole. */
const WITHOUT: ReadonlySet<string | undefined> = new Set(["space/importing", "space/unknown"])

/** The state of a space, in milliseconds since 1970. */
interface Seen {
  /** The first look, from which on a space without a backup counts. */
  readonly since: number
  /** The newest backup, or the look at which it had all. */
  newest: number | undefined
  next: number
  /** How far its store had come at its newest backup, and the file of that; no file where it has no part in backups. */
  had: { readonly progress: Progress; readonly file: string | undefined } | undefined
  /** The backup in progress, also one that was given up. */
  running: Fiber.Fiber<void, unknown> | undefined
  /** The pieces that backups have read, written, or read back. */
  pieces: number
}

/** Interrupts a backup, and waits for its end a little: a file that is not whole goes with it. */
const endOf = (fiber: Fiber.Fiber<void, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    fiber.interruptUnsafe()
    return Effect.asVoid(Effect.interruptible(Effect.timeoutOption(Fiber.await(fiber), ENDING)))
  })

/** Whether a store has come no further than its newest backup. Signals that wait came before it or after it. */
const isKept = ({ head, isQueued, turn }: Progress, newest: BackupName.Known | undefined, had: Seen["had"]): boolean => {
  if (newest?.file === had?.file && had?.progress.turn === turn && had.progress.head.hash === head.hash) return true
  return newest !== undefined && newest.end.beat === head.beat && head.hash.startsWith(newest.end.hash) && !isQueued
}

/** The time at which the next backup is due. One of a time to come was made when the clock was ahead, and tells nothing. */
const dueAfter = (at: number | undefined, millis: number, now: number): number => at === undefined || at > now ? now : at + millis

/**
 * The scheduled backups of one kernel.
 */
export class BackupSchedule {
  private readonly parts: Parts
  private readonly settings: Settings
  private readonly source: ReturnType<typeof Backup.ofKernel>
  private readonly seen = new Map<string, Seen>()
  /** The age that the metric shows, in seconds. */
  private shown = 0

  constructor(parts: Parts, settings: Settings) {
    this.parts = parts
    this.settings = settings
    this.source = Backup.ofKernel(parts.kernel, parts.maker)
  }

  /** Makes the backups as they become due, for ever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => {
    const wait = Math.min(LOOK, Math.max(LEAST, this.settings.every / 4))
    return Daemon.every(wait, this.pass, (failure) => Effect.sync(() => this.parts.report(failure)))
  })

  /** Makes each backup that is due, one after the other. A folder that fails ends it. No failure ends later ones. */
  readonly pass: Effect.Effect<void> = Effect.suspend(() => this.due()).pipe(
    Effect.catchCause((cause) => Effect.sync(() => this.parts.report(Cause.squash(cause)))),
    Effect.andThen(Effect.suspend(() => this.show()))
  )

  private due(): Effect.Effect<void, PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const names = yield* this.parts.kernel.spaces
      const present = new Set(names)
      for (const name of this.seen.keys()) if (!present.has(name)) this.seen.delete(name)
      for (const name of names) if (!(yield* this.look(name))) return
    })
  }

  /** Makes the backup of a space, if it is due. Returns whether the folder takes others. */
  private look(space: string): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function*() {
      const now = yield* Clock.currentTimeMillis
      const seen = this.seen.get(space) ??
        { since: now, newest: undefined, next: now, had: undefined, running: undefined, pieces: 0 }
      this.seen.set(space, seen)
      if (seen.next > now || seen.running !== undefined) return true
      // Before the work: a space that fails waits, and no other one waits for it.
      seen.next = now + Math.min(AGAIN, this.settings.every)
      const exit = yield* this.attempt(space, seen)
      if (Exit.isSuccess(exit)) return true
      const failure = Cause.squash(exit.cause)
      if (WITHOUT.has(codeOf(failure))) seen.newest = now
      else this.parts.report(new BackupMissed({ space, failure }))
      return !(failure instanceof BackupFailed)
    })
  }

  /** Waits for a backup as long as it moves. One that does not is left, and its space has no other one before it ended. */
  private attempt(space: string, seen: Seen): Effect.Effect<Exit.Exit<void, unknown>> {
    return Effect.gen({ self: this }, function*() {
      // No child: one that hangs would hold the fiber that gave it up.
      const fiber = yield* Effect.forkDetach(this.backup(space, seen))
      seen.running = fiber
      fiber.addObserver(() => {
        seen.running = undefined
      })
      return yield* Effect.onInterrupt(this.wait(space, seen, fiber), () => endOf(fiber))
    })
  }

  private wait(space: string, seen: Seen, fiber: Fiber.Fiber<void, unknown>): Effect.Effect<Exit.Exit<void, unknown>> {
    return Effect.gen({ self: this }, function*() {
      for (let before = -1; before !== seen.pieces;) {
        before = seen.pieces
        const exit = yield* Effect.timeoutOption(Fiber.await(fiber), STALLED)
        if (Option.isSome(exit)) return exit.value
      }
      fiber.interruptUnsafe()
      seen.next += this.settings.every
      return Exit.fail(new BackupStalled({ space }))
    })
  }

  private backup(space: string, seen: Seen) {
    return Effect.gen({ self: this }, function*() {
      const { every, full } = this.settings
      const { encrypt, folder, hash, maker: { signer } } = this.parts
      const now = yield* Clock.currentTimeMillis
      const known = yield* folder.list(space)
      const newest = known.at(-1)
      const at = newest?.at
      if (at !== undefined && at <= now) seen.newest = Math.max(seen.newest ?? 0, at)
      const due = dueAfter(at, every, now)
      if (due > now) {
        seen.next = due
        return
      }
      const progress = yield* this.parts.kernel.progress(space)
      if (isKept(progress, newest, seen.had)) {
        seen.newest = now
        seen.next = now + every
        yield* this.expire(space, known)
        return
      }
      const snapshot = known.findLast(({ n }) => n === 0)
      const isFull = dueAfter(snapshot?.at, full, now) <= now
      const moved = () => void seen.pieces++
      const choice = { isFull, encrypt, signer: signer?.key, moved }
      const made = yield* Backup.make(this.source(space), { space, folder, hash }, choice).pipe(
        Effect.catchTag("BackupDetached", () => Effect.succeed({ kind: "unchanged", file: undefined }))
      )
      seen.had = { progress, file: made.file }
      seen.newest = now
      seen.next = now + every
      // A copy that was not released has no part in the backups of its name.
      if (made.file !== undefined) yield* this.expire(space, known)
    })
  }

  /** Removes the oldest chain, if it is no longer to be kept: at most one at a time, so that no wrong clock removes many. */
  private expire(space: string, known: ReadonlyArray<BackupName.Known>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      const now = yield* Clock.currentTimeMillis
      for (const { file } of BackupName.expired(known, now - this.settings.keep)) yield* this.parts.folder.remove(space, file)
    }).pipe(Effect.catch((failure) => Effect.sync(() => this.parts.report(failure))))
  }

  /** Shows the age of the oldest of all newest backups. */
  private show(): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const ages = Array.from(this.seen.values(), ({ newest, since }) => Math.max(0, now - (newest ?? since)) / 1000)
      const age = ages.reduce((a, b) => Math.max(a, b), 0)
      this.parts.telemetry.add("systole.backup.age", age - this.shown)
      this.shown = age
    })
  }
}
