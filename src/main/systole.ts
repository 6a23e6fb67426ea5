#!/usr/bin/env node
/**
 * The command `systole`: checks the host before anything is imported that needs a newer one.
 *
 * @module
 */
const versions: Readonly<Record<string, string | undefined>> = process.versions
const [major = 0, minor = 0] = (versions.node ?? "").split(".").map(Number)
const native = versions.bun !== undefined || versions.deno !== undefined

if (!native && (major < 22 || (major === 22 && minor < 12))) {
  console.error("Systole needs Node 22.12 or newer, and this is Node " + versions.node + ". Install a newer one from https://nodejs.org, or run it with Deno or Bun")
  process.exit(2)
}

const { run } = await import("./Main.ts")
const { platform } = versions.bun !== undefined
  ? await import("./bun.ts")
  : versions.deno !== undefined
  ? await import("./deno.ts")
  : await import("./node.ts")
run(platform)
