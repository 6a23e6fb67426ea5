/**
 * `npm run crash [-- --kills 200] [--seed 1] [--host node|deno|bun]`: kills a
 * server over SQLite repeatedly, in which two events also end the process, and
 * counts lost and repeated handlings. With `--upgrade 10` or `--upgrade 11` it upgrades stores of that format under load instead,
 * and with `--older FOLDER` the version of that work tree takes them back before the upgrade is finished. With `--imports` it kills the
 * server in the middle of imports instead, and with `--backups` while its schedule writes a backup.
 *
 * @module
 */
import process from "node:process"
import * as BackupKills from "../crash/BackupKills.ts"
import * as Crash from "../crash/Crash.ts"
import * as Imports from "../crash/Imports.ts"
import * as Upgrade from "../crash/Upgrade.ts"
import { hosts } from "./Host.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

const { values: { backups, host, imports, kills, older, seed, upgrade } } = Options.read({
  script: "crash",
  about: "Kills a server over SQLite again and again, in which two events also end the process, and counts lost and repeated handlings.",
  options: {
    kills: Options.whole("How often it is killed", 200, 1),
    seed: Options.whole("Draws the load and the moments", 1),
    host: Options.choice("HOST", "The host of the server", { among: hosts, absent: "node" }),
    backups: Options.flag("Kills it while its schedule writes a backup instead"),
    upgrade: Options.choice("FORMAT", "Upgrades stores of this format under load instead", { among: ["10", "11"], absent: undefined }),
    imports: Options.flag("Kills the server in the middle of imports instead"),
    older: Options.text("FOLDER", "The work tree of a version before, which takes the stores back before an upgrade ends", undefined)
  }
})

/** Upgrades stores under load, and prints the result. */
const upgraded = async (format: 10 | 11): Promise<void> => {
  const { acknowledged, after, before, faults, lost, twice } = await Upgrade.run({ seed, kills, format, older })
  const row = [3 * kills, acknowledged, lost, twice, before.join(), after.join()].map(String)
  console.log(render(["kills", "acknowledged", "lost", "twice", "before", "after"], [row]))
  for (const fault of faults) console.error(fault)
  process.exit(lost > 0 || twice > 0 || faults.length > 0 ? 1 : 0)
}

/** Kills a server in the middle of imports, and prints the result. */
const imported = async (): Promise<never> => {
  const { absent, faults, unfinished, whole } = await Imports.run({ seed, kills })
  console.log(render(["kills", "whole", "unfinished", "absent"], [[kills, whole, unfinished, absent].map(String)]))
  for (const fault of faults) console.error(fault)
  process.exit(faults.length > 0 ? 1 : 0)
}

if (imports) await imported()

/** Kills a server while it writes a backup, and prints the result. */
const backedUp = async (): Promise<void> => {
  const { faults, met, whole } = await BackupKills.run({ seed, kills, host })
  console.log(render(["kills", "while it wrote", "whole backups"], [[kills, met, whole].map(String)]))
  for (const fault of faults) console.error(fault)
  process.exit(faults.length > 0 ? 1 : 0)
}

if (backups) await backedUp()
if (upgrade !== undefined) await upgraded(upgrade === "10" ? 10 : 11)

const onRestart = (kill: number, acknowledged: number): void =>
  void process.stderr.write(`killed ${kill} times, ${acknowledged} acknowledged\n`)
const tally = await Crash.run({ kills, seed, host, onRestart })
const columns = ["acknowledged", "handled", "lost", "duplicated", "poisoned", "cancelled"] as const
console.log(render(["kills", ...columns], [[kills, ...columns.map((name) => tally[name])].map(String)]))
const { duplicated, faults, lost } = tally
for (const fault of faults) console.error(fault)
if (lost > 0 || duplicated > 0 || faults.length > 0) process.exitCode = 1
