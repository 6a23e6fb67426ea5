/**
 * The checks of the project, in stages.
 *
 * The lanes of a stage run side by side, on two cores. Most steps leave a core idle at times, since they wait for processes or
 * end on one worker; a second lane uses it. The step that packs the package builds `dist` anew, and other tests run the command
 * that lies there. So only steps that read nothing but sources run beside it, and the attack on the package follows in its lane.
 *
 * @module
 */
import { node, tool } from "./Host.ts"
import type { Stage } from "./Step.ts"
import { busy, command, shown, tests } from "./Step.ts"

/** The tests that run on each host: the core and the host-specific parts. */
const core = ["cell", "persistence", "stage", "registry", "kernel", "conformance", "plugins"].map((folder) => `test/${folder}/`).concat(
  "test/replay/Replay.test.ts"
)

/** Tests with steps of their own. */
const separate = ["test/architecture.test.ts", "test/runtime/", "test/package/"]

/**
 * Suites of processes, of hosts and of long loads, which `npm run ok` leaves to `npm test`: each with the suite that shows the
 * same rules within a process, or with fewer trials.
 */
export const left: Readonly<Record<string, string>> = {
  "test/cli/Agent.test.ts": "test/agent/Wake.test.ts",
  "test/cli/AgentRun.test.ts": "test/agent/Resident.test.ts",
  "test/cli/Control.test.ts": "test/ingress/Control.test.ts",
  "test/cli/Held.test.ts": "test/ingress/Held.test.ts",
  "test/crash/Approval.test.ts": "test/flow/Timers.test.ts",
  "test/crash/Checkout.test.ts": "test/durable/RandomRuns.test.ts",
  "test/crash/Crash.test.ts": "test/kernel/space/Recovery.test.ts",
  "test/docs/Guide.test.ts": "test/docs/Snippets.test.ts",
  "test/faults/Faults.test.ts": "test/kernel/space/Recovery.test.ts",
  "test/kernel/beat/Young.test.ts": "test/kernel/beat/Expiry.test.ts",
  "test/main/Build.test.ts": "test/main/HostModules.test.ts",
  "test/main/Watchdog.test.ts": "test/kernel/watchdog/Stuck.test.ts",
  "test/persistence/IdempotencyIndex.test.ts": "test/persistence/SqlStore.test.ts",
  "test/replay/HostJournals.test.ts": "test/replay/Replay.test.ts",
  "test/replay/Hosts.test.ts": "test/replay/Replay.test.ts",
  "test/scripts/Demo.test.ts": "test/examples/Thumbnails.test.ts"
}

const script = (name: string, ...args: ReadonlyArray<string>) => [node(), "test/scripts/run.mjs", name, ...args] as const

const types = command("types", [tool("tsc"), "-p", ".", "--noEmit"])
const lint = command("lint", [tool("oxlint"), "--deny-warnings"])
const language = shown("language", script("language", "--brief"))
const floors = tests("floors", "node", { files: ["test/architecture.test.ts"] })
const quick = tests("quick tests on Node", "node", { without: [...separate, ...Object.keys(left)] })
const onNode = tests("tests on Node", "node", { without: separate })
const onDeno = tests("core on Deno", "deno", { files: core })
const onBun = tests("core on Bun", "bun", { files: core })
const denoTypes = command("types on Deno", [tool("deno"), "check", "src"])
const examples = busy("examples in the docs", [tool("deno"), "test", "-A", "--doc", "src"])
const workerd = tests("bundle on workerd", "node", { files: ["test/runtime/"] })
const packed = tests("package", "node", { files: ["test/package/"] })
const attack = busy("attack", script("attack", "--seconds", "20"))

/** The checks of the sources. */
const sources: Stage = [[types], [lint, language, floors]]

/** Each commit is checked with these. */
export const fast: ReadonlyArray<Stage> = [sources, [[quick]]]

/** All checks. */
export const all: ReadonlyArray<Stage> = [sources, [[onNode], [onDeno, onBun, workerd]], [[packed, attack], [examples, denoTypes]]]
