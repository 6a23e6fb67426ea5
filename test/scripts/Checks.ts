/**
 * The checks of the project, in stages.
 *
 * The steps of a stage run side by side, on two cores. The step that packs the package has a stage of its own: it
 * builds `dist` anew, and other tests run the command that lies there.
 *
 * @module
 */
import { node, tool } from "./Host.ts"
import type { Stage } from "./Step.ts"
import { busy, command, shown, tests } from "./Step.ts"

/** The tests that run on each host: the core and the host-specific parts. */
const core = ["cell", "persistence", "stage", "registry", "kernel", "conformance", "plugins"].map((folder) => `test/${folder}/`).concat(
  "test/replay/Replay.test.ts"
)

/** Tests that need a build; they have separate steps. */
const slow = ["test/runtime/**", "test/package/**"].flatMap((glob) => ["--exclude", glob])

const script = (name: string, ...args: ReadonlyArray<string>) => [node(), "test/scripts/run.mjs", name, ...args] as const

const types = command("types", [tool("tsc"), "-p", ".", "--noEmit"])
const lint = command("lint", [tool("oxlint"), "--deny-warnings"])
const language = shown("language", script("language", "--brief"))
const floors = tests("floors", "node", { files: ["test/architecture.test.ts"] })
const onNode = tests("tests on Node", "node", { options: [...slow, "--exclude", "test/architecture.test.ts"] })
const onDeno = tests("core on Deno", "deno", { files: core })
const onBun = tests("core on Bun", "bun", { files: core })
const denoTypes = command("types on Deno", [tool("deno"), "check", "src"])
const examples = busy("examples in the docs", [tool("deno"), "test", "-A", "--doc", "src"])
const workerd = tests("bundle on workerd", "node", { files: ["test/runtime/"] })
const packed = tests("package", "node", { files: ["test/package/"] })
const attack = busy("attack", script("attack", "--seconds", "20"))

/** Each commit is checked with these. */
export const fast: ReadonlyArray<Stage> = [[types, lint, language], [floors], [onNode]]

/** All checks. */
export const all: ReadonlyArray<Stage> = [...fast, [onDeno, onBun], [denoTypes, examples, workerd], [packed], [attack]]
