/**
 * The rules of control files in cells that the enzymes and the command line share: settings, and the limits of such a file.
 *
 * @module
 */
import type { ControlFile } from "../document/ControlFile.ts"
import * as Conditions from "../schedule/Condition.ts"
import * as Settings from "../wake/Settings.ts"

/** The cell of the settings: fields as those of `agent` in a configuration. */
export const SETTINGS = "/data/agent/settings"

/** The key of the start of an agent that has no process: `startup` actions run at the first wake alone. */
export const STARTUP = "cell"

/** The settings of a space. `misfit` tells of one that is not valid. */
export interface CellSettings {
  readonly settings: Settings.Settings
  readonly misfit?: string
}

/**
 * Reads the value of the cell of settings. One that is not valid counts as none of them.
 */
export const settingsOf = (value: unknown): CellSettings => {
  const fields = typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : {}
  const texts = Settings.names.flatMap((name) => fields[name] === undefined ? [] : [[name, String(fields[name])] as const])
  const found = Settings.parse(Object.fromEntries(texts))
  if (found._tag === "Success") return { settings: found.success }
  const { failure } = found
  return { settings: Settings.defaults, misfit: `${SETTINGS}: ${failure.name} is ${JSON.stringify(failure.value)}. ${failure.remedy}` }
}

/**
 * A message for each use of facts of a host, of which a cell has none.
 */
export const absentFacts = ({ actions }: ControlFile): ReadonlyArray<string> => actions.flatMap(({ condition, id, schedule }) => {
  const { files, variables } = Conditions.requirementsOf(condition === undefined ? [] : [condition])
  const found = [
    ...schedule.kind === "on_change" ? [`on_change:${schedule.path}`] : [],
    ...[...files].map((path) => `file_exists:${path}`),
    ...[...variables].map((name) => `env_set:${name}`)
  ]
  const remedy = "Use a time, action_completed or action_failed, or keep the file on a disk"
  const reason = "a file in a cell has neither files nor variables of a host"
  return found.map((test) => `The action "${id}" has ${test.slice(0, 100)}, and ${reason}. ${remedy}`)
})
