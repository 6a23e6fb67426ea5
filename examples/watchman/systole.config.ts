/**
 * The configuration of this example: an agent with requests to this machine, one program, and files in `pages`.
 *
 * @module
 */
import { defineConfig } from "systole"

export default defineConfig({
  persistence: "sqlite",
  agent: { attempts: 1, timezone: "UTC" },
  channels: {
    http: { use: "http", options: { allow: ["127.0.0.1"] } },
    shell: { use: "shell", options: { allow: [{ program: "tar", args: ["backup.tar", "pages"], options: ["-cvf"] }], root: "." } },
    file: { use: "file", options: { root: "." } }
  }
})
