/**
 * The types of actions of the agent.
 *
 * | type | fields | channel |
 * |---|---|---|
 * | `http` | `url`, `method`, `headers`, `body`, `expect_status`, `expect_body` | `http` |
 * | `http_check` | as `http`, with `target` for `url`, and 2xx as the expected status | `http` |
 * | `shell` | `command`, `working_dir`, `env` | `shell` |
 * | `file` | `operation`, `source`, `target`, `content`, `pattern`, `older_than` | `file` |
 * | `signal` | `signal`, `target`, `payload` | none |
 * | `notify` | `channel`, `target`, `message` | `http`; `webhook-out` for `signed` |
 * | `composite` | `actions`, `mode`, `fail_fast` | none |
 *
 * The channels have the names of their providers in the configuration. An action of a type without its channel fails.
 *
 * @module
 */
import { Plugin } from "systole"
import * as CellAgent from "./agent/cells/CellAgent.ts"
import composite from "./agent/types/Composite.ts"
import file from "./agent/types/File.ts"
import { http, httpCheck } from "./agent/types/Http.ts"
import notify from "./agent/types/Notify.ts"
import shell from "./agent/types/Shell.ts"
import signal from "./agent/types/Signal.ts"
import { ProjectSettings } from "./agent/wake/ProjectSettings.ts"

export * as CellAgent from "./agent/cells/CellAgent.ts"
export * as ActionType from "./agent/order/ActionType.ts"
export * as ActionMembers from "./agent/order/Members.ts"

const types = [http, httpCheck, shell, file, signal, notify, composite]

export default Plugin.make({
  name: "agent",
  version: "0.1.0",
  provides: {},
  settings: ProjectSettings,
  reserved: ["/signals/heartbeat/"],
  needs: ["requests"],
  enzymes: [...types, ...CellAgent.enzymes(types.map(({ name }) => name.slice("agent_".length)))]
})
