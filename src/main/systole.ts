#!/usr/bin/env node
/**
 * The entry point of the command `systole`. It checks the version of the host before it imports the runtime. For `systole dev` it
 * supervises a second process with the same arguments.
 *
 * @module
 */
import { fileURLToPath } from "node:url"
import { refusal } from "./host/HostVersion.ts"
import * as Supervisor from "./watchdog/Supervisor.ts"

const refused = refusal(process.versions)
if (refused !== undefined) {
  console.error(refused)
  process.exit(2)
}

const args = process.argv.slice(2)
if (Supervisor.isAsked(args)) process.exit(await Supervisor.supervise(fileURLToPath(import.meta.url), args))

const [{ run }, { program }] = await Promise.all([import("./Main.ts"), import("./SourceProgram.ts")])
const { platform } = process.versions.bun !== undefined
  ? await import("./bun.ts")
  : process.versions.deno !== undefined
  ? await import("./deno.ts")
  : await import("./node.ts")
run(platform, program(process.cwd(), args))
