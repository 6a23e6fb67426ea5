/**
 * The checks of the project, in stages.
 *
 * The lanes of a stage run side by side, on two cores. Most steps leave a core idle at times, since they wait for processes or
 * end on one worker; a second lane uses it. So the lanes of a stage take about as long as each other: the suites of processes,
 * which wait most, run beside the tests within a process. The attack measures latencies, and comes last, with few others beside it.
 *
 * @module
 */
import { node, tool } from "./Host.ts"
import { long } from "./Long.ts"
import type { Stage } from "./Step.ts"
import { busy, command, shown, tests } from "./Step.ts"

/**
 * The parts that a host can change: stores, channels, and times with their zones. The worlds of `test/simulation/Hosts.test.ts` have
 * the core on each host.
 */
const hosted = [
  "test/persistence/", "test/plugins/", "test/conformance/Commit.test.ts",
  ...["beat/Schedules", "beat/SlowSchedules", "beat/StoredSchedules", "beat/TimedRetry", "space/StoredOwnIds"]
    .map((name) => `test/kernel/${name}.test.ts`)
]

/** Tests of stores that no host changes: of the store in memory, and of rules above the driver of SQLite. */
const portable = ["Contract", "IdempotencyIndex", "MemoryStore"].map((name) => `test/persistence/${name}.test.ts`)

/** The parts that an engine can change: numbers, texts, order, and the scenarios over the whole core. Deno has the engine of Node. */
const engine = ["test/cell/", "test/stage/", "test/registry/", "test/conformance/", "test/replay/Replay.test.ts"]

/** The tests of builds: of bundles in workerd and in browsers, and of the installed package. */
const built = ["test/runtime/", "test/package/"]

const script = (name: string, ...args: ReadonlyArray<string>) => [node(), "test/scripts/run.mjs", name, ...args] as const

/** The arguments with which the attack makes the parts that failed, which its last lines tell. */
const failedParts = (output: string): ReadonlyArray<string> => /^again: (.*)$/m.exec(output)?.[1]?.split(" ") ?? []

const types = command("types", [tool("tsc"), "-p", ".", "--noEmit"])
const lint = command("lint", [tool("oxlint"), "--deny-warnings"])
const language = shown("language", script("language", "--brief"))
const floors = tests("floors", "node", { files: ["test/architecture.test.ts"] })
const quick = tests("quick tests on Node", "node", { without: ["test/architecture.test.ts", ...built, ...Object.keys(long)] })
const suites = tests("long suites on Node", "node", { files: [...Object.keys(long), ...built] })
const onDeno = tests("stores, channels on Deno", "deno", { files: hosted, without: portable })
const onBun = tests("core on Bun", "bun", { files: [...hosted, ...engine], without: portable })
const denoTypes = command("types on Deno", [tool("deno"), "check", "--doc", "src"])
const examples = busy("examples in the docs", [tool("deno"), "test", "-A", "--no-check", "--doc", "src"])
const attack = (minutes: number) => busy("attack", script("attack", "--minutes", String(minutes)), failedParts)

/** The checks of the sources. */
const sources: Stage = [[types], [lint, language, floors]]

/** Each commit is checked with these. */
export const fast: ReadonlyArray<Stage> = [sources, [[quick]]]

/** All checks, with an attack of so many minutes. */
const checks = (minutes: number): ReadonlyArray<Stage> =>
  [sources, [[quick, onBun, onDeno], [suites]], [[attack(minutes)], [examples, denoTypes]]]

/** All checks, in their short form. */
export const all = checks(0.3)

/** All checks, in their long form, which the tests read from `TRIALS`. */
export const full = checks(0.6)
