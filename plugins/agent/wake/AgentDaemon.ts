/**
 * An agent that stays: it wakes when an action is due, and when the control file or a watched path changes.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Disk } from "systole/cli"
import * as Facts from "../store/Facts.ts"
import { ControlStore } from "../store/ControlStore.ts"
import type { LeaseLost } from "../store/Lease.ts"
import type { LedgerFailed } from "../order/SpaceClient.ts"
import * as Wake from "./Wake.ts"

/** The longest wait while an action waits without a time, such as for a condition or an approval, in milliseconds. */
const RECHECK_MILLIS = 60_000

/** The wait after the first refusal of a server; each further one doubles it, up to {@link RECHECK_MILLIS}. */
const FIRST_MILLIS = 1_000

/** The wait after a change, in which an editor ends its save. */
const QUIET = "250 millis"

/** The paths whose changes wake the agent: the folder of the file, and the watched paths with their folders. */
const watched = Effect.fnUntraced(function*(folder: string, report: Wake.Report | undefined) {
  const disk = yield* Disk
  const given = (report?.plan ?? []).flatMap(({ action: { schedule } }) => {
    if (schedule.kind !== "on_change") return []
    return [schedule.path.startsWith("/") ? schedule.path : disk.join(folder, schedule.path)]
  })
  const paths = yield* Effect.forEach([...new Set(given)], (path) =>
    Effect.map(Facts.foldersOf(path), (folders) => [...folders, disk.split(path)[0]]))
  return [...new Set([folder, ...paths.flat()])]
})

/** Whether an action waits without a known time. One that may run at the end of a wake waits for an approval. */
const isUntimed = ({ plan }: Wake.Report): boolean =>
  plan.some((decision) => decision.kind === "run" || (decision.kind === "wait" && decision.at === undefined))

/**
 * Whether a change came before the wait for it began: a save, or a change of a watched path beside an action that ran. The path
 * of an action that ran itself is left out, because an action may write to the path that it watches.
 */
const isMissed = Effect.fnUntraced(function*({ captured, open, version }: Wake.Memory, { ran }: Wake.Report) {
  const store = yield* ControlStore
  if (version === undefined || captured === undefined || open === undefined) return false
  if ((yield* store.version) !== version) return true
  if (ran.length === 0) return false
  const begun = new Set(ran.map(({ action: { id } }) => id))
  const { digests } = yield* store.capture(open.file.actions)
  return [...digests].some(([id, digest]) => !begun.has(id) && captured.digests.get(id) !== digest)
})

/**
 * Waits for a change by a look each minute, because some mounts tell none: of the file, or of a watched path since the begin of
 * the wait.
 */
const looking = Effect.fnUntraced(function*({ open }: Wake.Memory) {
  const store = yield* ControlStore
  const look = Effect.gen(function*() {
    const watching = open?.file.actions.filter(({ schedule: { kind } }) => kind === "on_change") ?? []
    const { digests } = yield* store.capture(watching)
    return JSON.stringify([yield* store.version, ...digests])
  }).pipe(Effect.orElseSucceed(() => ""))
  const first = yield* look
  yield* Effect.andThen(Effect.sleep(RECHECK_MILLIS), look).pipe(Effect.repeat({ while: (found) => found === first }))
})

/** The memory of the latest wake, and its report; `undefined` if it failed. */
interface Latest {
  readonly memory: Wake.Memory
  readonly report: Wake.Report | undefined
  /** The time until the next look without a known time, in milliseconds. */
  readonly recheck: number
}

/** Waits for the next wake of a file in a folder. */
const wait = Effect.fnUntraced(function*(folder: string, { memory, recheck: millis, report }: Latest) {
  const disk = yield* Disk
  const now = yield* Clock.currentTimeMillis
  const recheck = report === undefined || isUntimed(report) ? now + millis : Number.POSITIVE_INFINITY
  const until = Math.min(report?.nextDue ?? Number.POSITIVE_INFINITY, recheck)
  const due = Number.isFinite(until) ? Effect.sleep(Math.max(0, until - now)) : Effect.never
  const paths = yield* watched(folder, report)
  const changes = paths.map((path) => Effect.andThen(disk.changed(path), Effect.sleep(QUIET)))
  const missed = report === undefined ? Effect.succeed(false) : Effect.orElseSucceed(isMissed(memory, report), () => false)
  const late = Effect.flatMap(missed, (is) => is ? Effect.sleep(QUIET) : Effect.never)
  // The watchers begin first, so no change comes between them and the look at what was missed.
  yield* Effect.raceAll([due, ...changes, late, looking(memory)])
})

/**
 * Wakes again and again, for a file in a folder. A file that cannot be used and a full disk are told, and the next change or minute
 * tries again. A server that refuses, such as one that starts again, is asked after 1, 2, 4 … seconds. A first wake that it refuses
 * ends the agent, because its settings may be wrong. So does a lost lease, because another agent has the file.
 */
export const run = Effect.fn("AgentDaemon.run")(function*(
  folder: string,
  given: Omit<Wake.Request, "memory">,
  tell: (wake: Wake.Report | Wake.Failure) => Effect.Effect<void>
): Effect.fn.Return<never, LeaseLost | LedgerFailed, Wake.Services | Disk> {
  let memory = new Wake.Memory()
  let refusals = 0
  for (let isFirst = true;; isFirst = false) {
    const woken: Wake.Report | Wake.Failure = yield* Wake.run({ ...given, memory }).pipe(
      Effect.catch((error) => {
        const isEnd = error._tag === "LeaseLost" || (isFirst && error._tag === "LedgerFailed")
        return isEnd ? Effect.fail(error) : Effect.succeed(error)
      })
    )
    // A wake that failed has changed records, and perhaps the file.
    if (!("ran" in woken)) memory = new Wake.Memory()
    yield* tell(woken)
    refusals = "_tag" in woken && woken._tag === "LedgerFailed" ? refusals + 1 : 0
    const again = Math.min(FIRST_MILLIS * 2 ** (refusals - 1), RECHECK_MILLIS)
    yield* wait(folder, { memory, report: "ran" in woken ? woken : undefined, recheck: refusals === 0 ? RECHECK_MILLIS : again })
  }
})
