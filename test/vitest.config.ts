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
    // Bun has no processes for vitest, and Deno no threads that end well.
    pool: "Deno" in globalThis ? "forks" : "threads",
    // A small file takes longer to load the runtime than to run, so files share workers. They leave nothing behind there.
    isolate: false,
    // The default leaves a core to vitest itself, which has little to do.
    maxWorkers: availableParallelism(),
    // Generous, because two cores are shared with whatever else the machine does.
    testTimeout: 30_000,
    hookTimeout: 30_000
  }
})
