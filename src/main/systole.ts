#!/usr/bin/env node
/**
 * The entry point of the command `systole`. It checks the version of the host before it imports other modules.
 *
 * @module
 */
import { refusal } from "./HostVersion.ts"

const refused = refusal(process.versions)
if (refused !== undefined) {
  console.error(refused)
  process.exit(2)
}

const [{ run }, { program }] = await Promise.all([import("./Main.ts"), import("./SourceProgram.ts")])
const { platform } = process.versions.bun !== undefined
  ? await import("./bun.ts")
  : process.versions.deno !== undefined
  ? await import("./deno.ts")
  : await import("./node.ts")
run(platform, program(process.cwd(), process.argv.slice(2)))
