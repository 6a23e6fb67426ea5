/**
 * The floors of `src`, and the rooms of its large folders, as data.
 *
 * @module
 */

/** The floors of `src/`, lowest first. Folders on one line do not import each other. */
export const floors = [
  ["cell", "time"],
  ["persistence", "contract"],
  ["stage", "diagnostic", "frame"],
  ["registry"],
  ["ledger"],
  ["scheduler", "operation", "rendezvous", "flow", "reactor", "durable"],
  ["kernel", "federation"],
  ["loader", "replay", "access", "archive"],
  ["ingress", "client"],
  ["cli", "react"],
  ["main"]
]

/** The rooms of the kernel, lowest first. */
export const kernel = [
  ["model"], ["journal"], ["watchdog"], ["derived", "inbox"], ["beat"], ["history"], ["beat/command"], ["beat/step"], ["beat/loop"],
  ["runs"], ["view"], ["live"], ["api"], ["space"]
]

/** The rooms of the agent and of the scheduler, lowest first. */
const agent = [["text"], ["schedule"], ["document"], ["order", "store"], ["wake"], ["cells"], ["types", "commands"]]
const scheduler = [["definition"], ["graph"], ["run", "view"]]

/**
 * The rooms of large folders: inner floors, to which the same rule applies. Files beside the rooms stand above them, or
 * where "" is.
 */
export const rooms: Readonly<Record<string, Array<Array<string>>>> = {
  "src/kernel": kernel, "src/scheduler": scheduler, "plugins/agent": agent,
  "src/stage": [["write"]],
  "src/persistence": [[""], ["memory", "sql"]],
  "src/ingress": [["wire"], ["access", "signal"], ["route"]],
  "src/cli": [[""], ["command"]],
  "src/main": [["guard", "host", "slice"], ["module", "watchdog"], ["composition"], ["testing/contract"], ["build", "testing", "workers"]]
}
