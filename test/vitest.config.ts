import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** One configuration for Node, Deno and Bun. */
export default defineConfig({
  root: path(".."),
  resolve: {
    alias: [
      { find: /^systole$/, replacement: path("../src/index.ts") },
      { find: /^systole\/testing$/, replacement: path("../src/main/testing/index.ts") },
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
    // Only a hang takes so long: tests start hosts, and share a slow core with others. A test has no time-out of its own.
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})
