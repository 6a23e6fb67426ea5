/**
 * The suites that take longest. They begin first, because one of them at the end would keep one core busy and the other idle.
 *
 * @module
 */

/** Suites within a process, of which `npm run ok` runs fewer trials. */
const loads: ReadonlyArray<string> = [
  "test/simulation/Simulation.test.ts",
  "test/agent/RandomWakes.test.ts",
  "test/kernel/beat/Expiry.test.ts",
  "test/ingress/LargeContent.test.ts"
]

/**
 * Suites of processes, of hosts and of long loads, which `npm run ok` leaves to `npm test`: each with the one that shows the same
 * rules within a process, or with fewer trials. The longest ones come first, the others by name.
 */
export const long: Readonly<Record<string, string>> = {
  "test/main/Watchdog.test.ts": "test/kernel/watchdog/Stuck.test.ts",
  "test/main/build/Build.test.ts": "test/main/HostModules.test.ts",
  "test/docs/Guide.test.ts": "test/docs/Snippets.test.ts",
  "test/soak/Soak.test.ts": "test/kernel/space/Spaces.test.ts",
  "test/main/Supervisor.test.ts": "test/kernel/watchdog/Stuck.test.ts",
  "test/archive/Hosts.test.ts": "test/archive/Restore.test.ts",
  "test/cli/Agent.test.ts": "test/agent/Wake.test.ts",
  "test/cli/AgentCell.test.ts": "test/agent/CellAgent.test.ts",
  "test/cli/AgentRun.test.ts": "test/agent/AgentDaemon.test.ts",
  "test/cli/Cli.test.ts": "test/cli/Debug.test.ts",
  "test/cli/Control.test.ts": "test/ingress/Control.test.ts",
  "test/cli/Held.test.ts": "test/ingress/Held.test.ts",
  "test/cli/RefusedPlugins.test.ts": "test/loader/PluginConflicts.test.ts",
  "test/cli/ReloadServices.test.ts": "test/loader/PluginServices.test.ts",
  "test/crash/AgentKills.test.ts": "test/agent/RandomWakes.test.ts",
  "test/crash/Approval.test.ts": "test/flow/Timers.test.ts",
  "test/crash/Checkout.test.ts": "test/durable/RandomRuns.test.ts",
  "test/crash/Crash.test.ts": "test/kernel/space/Recovery.test.ts",
  "test/crash/Imports.test.ts": "test/archive/Kills.test.ts",
  "test/crash/Upgrade.test.ts": "test/kernel/space/StoreUpgrade.test.ts",
  "test/examples/Shop.test.ts": "examples/shop/test/shop.test.ts",
  "test/faults/Faults.test.ts": "test/kernel/space/Recovery.test.ts",
  "test/kernel/beat/Noninterference.test.ts": "test/kernel/beat/ReaderLabels.test.ts",
  "test/kernel/beat/Young.test.ts": "test/kernel/beat/Expiry.test.ts",
  "test/persistence/IdempotencyIndex.test.ts": "test/persistence/SqlStore.test.ts",
  "test/plugins/JailRace.test.ts": "test/plugins/File.test.ts",
  "test/replay/HostJournals.test.ts": "test/replay/Replay.test.ts",
  "test/replay/Hosts.test.ts": "test/replay/Replay.test.ts",
  "test/scripts/Demo.test.ts": "test/examples/Thumbnails.test.ts",
  "test/simulation/Hosts.test.ts": "test/simulation/SmallWorlds.test.ts"
}

/** The suite of the package, which has one file, and those in workerd that wait for its timers, or keep its one thread busy. */
const built: ReadonlyArray<string> = ["test/package/Package.test.ts", "test/runtime/Scenarios.test.ts", "test/runtime/Sleep.test.ts"]

/** The files of all of them, in the order in which they begin. */
export const first: ReadonlyArray<string> = [...loads, ...built, ...Object.keys(long)]
