import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

/** One configuration for Node, Deno and Bun: threads, because Bun has no process pool. */
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { alias: { systole: fileURLToPath(new URL("../src/index.ts", import.meta.url)) } },
  test: { include: ["test/**/*.test.ts", "examples/**/*.test.ts"], pool: "threads" }
})
