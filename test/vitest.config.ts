import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { first } from "./scripts/Long.ts"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The long suites first. Without the durations of an earlier run, vitest begins with the largest files, and some long suites are small. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const byPath = new Map(sorted.map((file) => [file.moduleId, file]))
    const suites = first.flatMap((file) => byPath.get(path(`../${file}`)) ?? [])
    return [...suites, ...sorted.filter((file) => !suites.includes(file))]
  }
}

/** One configuration for Node, Deno and Bun. */
export default defineConfig({
  root: path(".."),
  resolve: {
    alias: [
      { find: /^systole$/, replacement: path("../src/index.ts") },
      { find: /^systole\/cells$/, replacement: path("../src/cell/index.ts") },
      { find: /^systole\/cli$/, replacement: path("../src/cli/index.ts") },
      { find: /^systole\/client$/, replacement: path("../src/client/index.ts") },
      { find: /^systole\/contract$/, replacement: path("../src/contract/index.ts") },
      { find: /^systole\/embed$/, replacement: path("../src/main/Embed.ts") },
      { find: /^systole\/guards$/, replacement: path("../src/main/guard/RunGuards.ts") },
      { find: /^systole\/react$/, replacement: path("../src/react/index.ts") },
      { find: /^systole\/rich$/, replacement: path("../src/cell/RichJson.ts") },
      { find: /^systole\/testing$/, replacement: path("../src/main/testing/index.ts") },
      { find: /^systole\/time$/, replacement: path("../src/time/index.ts") },
      { find: /^systole\/plugins\/(.*)$/, replacement: path("../plugins/$1.ts") }
    ]
  },
  test: {
    include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
    globalSetup: path("scripts/setup.ts"),
    // Bun cannot run vitest in processes, and Deno cannot end its threads properly.
    pool: "Deno" in globalThis ? "forks" : "threads",
    // A small file takes longer to load the runtime than to run, so files share workers. They leave no state behind.
    isolate: false,
    // The default reserves a core for vitest itself, which needs little.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongFirst },
    // Only a hang takes so long: tests start hosts, and share a slow core with others. A test has no time-out of its own.
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})
