/**
 * The settings of the hosts of a world.
 *
 * @module
 */
import { defaults, type Settings } from "systole"
import * as Derived from "./Derived.ts"
import type { Plan } from "./Plan.ts"

/** The limits of a small world, in which signals and state spill to the store. */
const small = { captureSignals: 3, captureBytes: 400, groupBeats: 2, residentBytes: 2000, residentRuns: 2, backoffBeats: 3 }

/** The settings of a plan. */
export const of = ({ isLabelled, isSmall, open = 1000, retention }: Plan): Partial<Settings> => ({
  ...isLabelled ? { labels: Derived.labels } : {},
  tempo: 10, pace: "demand", ledgers: true, boot: true, limits: isSmall ? { ...defaults, ...small } : defaults, open, retention
})
