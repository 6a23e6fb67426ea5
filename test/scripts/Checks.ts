/**
 * What is checked of the project, by name.
 *
 * @module
 */
import { node, tool } from "./Host.ts"
import type { Step } from "./Step.ts"
import { command, tests } from "./Step.ts"

/** The tests that mean the same on each host: the core, down to the hosts' own parts. */
const core = ["cell", "persistence", "stage", "registry", "kernel", "conformance"].map((folder) => `test/${folder}/`).concat("test/replay/Replay.test.ts")

/** Tests that build something first; they have their own steps. */
const slow = ["test/runtime/**", "test/package/**"].flatMap((glob) => ["--exclude", glob])

const types = command("types", [tool("tsc"), "-p", ".", "--noEmit"])
const lint = command("lint", [tool("oxlint"), "--deny-warnings"])
const floors = tests("floors", "node", ["test/architecture.test.ts"])
const build = command("build", [node(), "test/scripts/run.mjs", "build"])
const attack = command("attack", [node(), "test/scripts/run.mjs", "attack", "--seconds", "20"])
const examples = command("examples in the docs", [tool("deno"), "test", "-A", "--doc", "src"])
const denoTypes = command("types on Deno", [tool("deno"), "check", "src"])

/** What each commit is checked with. */
export const fast: ReadonlyArray<Step> = [types, lint, floors, tests("tests on Node", "node", [...slow, "--exclude", "test/architecture.test.ts"])]

/** Everything. */
export const all: ReadonlyArray<Step> = [
  ...fast,
  tests("core on Deno", "deno", core),
  tests("core on Bun", "bun", core),
  denoTypes,
  examples,
  build,
  tests("bundle on workerd", "node", ["test/runtime/"]),
  tests("package", "node", ["test/package/"]),
  attack
]
