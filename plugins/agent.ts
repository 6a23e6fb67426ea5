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
import { CellAgent, Plugin } from "systole"
import composite from "./agent/Composite.ts"
import file from "./agent/File.ts"
import { http, httpCheck } from "./agent/Http.ts"
import notify from "./agent/Notify.ts"
import shell from "./agent/Shell.ts"
import signal from "./agent/Signal.ts"

const types = [http, httpCheck, shell, file, signal, notify, composite]

export default Plugin.make({
  name: "agent",
  version: "0.1.0",
  provides: {},
  enzymes: [...types, ...CellAgent.enzymes(types.map(({ name }) => name.slice("agent_".length)))]
})
