/**
 * The spaces of schedules: opened when the kernel begins its work, and when an enzyme with a schedule is registered later.
 *
 * A closed space wakes by the plans that it has, and learns of other schedules only while it is open.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import { FIRST } from "../../registry/Scheduling.ts"
import type { Fork } from "../model/Fibers.ts"
import type { Settings } from "../model/Limits.ts"

/** The enzymes of a kernel, its settings, and the opening of a space, which creates it where the settings allow that. */
interface Dependencies {
  readonly registry: Enzymes
  readonly settings: Pick<Settings, "first">
  readonly reporter: Reporter
  readonly open: (name: string) => Effect.Effect<unknown, PersistenceError>
  readonly fork: Fork
}

/**
 * Opens the spaces of schedules.
 */
export class ScheduledSpaces {
  private readonly deps: Dependencies
  /** Whether the kernel has begun its work. Before that, and in a kernel that only reads, no space is opened. */
  private hasBegun = false

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** Opens the spaces of all schedules. */
  begin(): void {
    this.hasBegun = true
    this.openAll(this.deps.registry.all().map(({ enzyme }) => enzyme))
  }

  /** Opens the spaces of a new enzyme. */
  see(enzyme: Enzyme): void {
    if (this.hasBegun) this.openAll([enzyme])
  }

  private openAll(enzymes: ReadonlyArray<Enzyme>): void {
    const { fork, open, settings: { first = FIRST } } = this.deps
    const byName = new Map<string, Enzyme>()
    for (const enzyme of enzymes) for (const name of enzyme.schedule?.spaces ?? (enzyme.schedule && [first]) ?? []) byName.set(name, enzyme)
    if (byName.size === 0) return
    // A space that fails to open keeps no other one closed.
    fork(Effect.forEach(byName, ([name, enzyme]) =>
      Effect.catchCause(open(name), (cause) => Effect.sync(() => {
        if (!Cause.hasInterruptsOnly(cause)) this.report(Cause.squash(cause), name, enzyme)
      })), { discard: true }))
  }

  private report(error: unknown, space: string, { name }: Enzyme): void {
    const isUnknown = error instanceof PersistenceError && error.code === "space/unknown"
    if (!isUnknown) return this.deps.reporter.report(UnexpectedFailure.of(error))
    const note = `${name} has a schedule in the space "${space}", which does not exist. Create it: systole space create ${space}`
    const fact = Diagnostic.of("schedule/space-unknown", { origin: { kind: "enzyme", name }, subject: undefined, note })
    this.deps.reporter.report({ ...fact, space, beat: undefined })
  }
}
