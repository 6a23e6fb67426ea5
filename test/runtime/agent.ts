/**
 * A Worker with the agent: control files in cells of its objects.
 *
 * @module
 */
import agent from "../../plugins/agent.ts"
import http from "../../plugins/http.ts"
import { make } from "../../src/main/workers/index.ts"
import { counted } from "./counted.ts"

const worker = counted(make({
  manifest: {
    "systole/plugins/agent": { module: agent, hash: "0".repeat(64) },
    "systole/plugins/http": { module: http, hash: "1".repeat(64) }
  },
  config: {
    agent: {},
    spaces: { create: "on-demand" },
    channels: { http: { use: "http", options: { allow: ["127.0.0.1"] } } }
  }
}))

export const { Directory, Space } = worker
export default worker.handler
