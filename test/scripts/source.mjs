/**
 * Lets Node run the sources: the package's own name leads to them instead of to
 * what is built. Compiled code is kept on disk for the next process. Used as `node --import ./test/scripts/source.mjs FILE`; Bun and
 * Deno read the same from `tsconfig.json` and `deno.json`.
 *
 * @module
 */
import * as module from "node:module"
import { fileURLToPath } from "node:url"

module.enableCompileCache?.(fileURLToPath(new URL("../../node_modules/.cache/systole-code", import.meta.url)))

const index = new URL("../../src/index.ts", import.meta.url).href
const testing = new URL("../../src/main/testing/index.ts", import.meta.url).href
const cells = new URL("../../src/cell/index.ts", import.meta.url).href
const cli = new URL("../../src/cli/index.ts", import.meta.url).href
const time = new URL("../../src/time/index.ts", import.meta.url).href
const client = new URL("../../src/client/index.ts", import.meta.url).href
const contract = new URL("../../src/contract/index.ts", import.meta.url).href
const react = new URL("../../src/react/index.ts", import.meta.url).href
const embed = new URL("../../src/main/Embed.ts", import.meta.url).href
const guards = new URL("../../src/main/guard/RunGuards.ts", import.meta.url).href
const plugin = (name) => new URL(`../../plugins/${name}.ts`, import.meta.url).href

const locate = (specifier) => {
  if (specifier === "systole") return index
  if (specifier === "systole/cells") return cells
  if (specifier === "systole/cli") return cli
  if (specifier === "systole/client") return client
  if (specifier === "systole/time") return time
  if (specifier === "systole/testing") return testing
  if (specifier === "systole/react") return react
  if (specifier === "systole/embed") return embed
  if (specifier === "systole/guards") return guards
  if (specifier === "systole/contract") return contract
  return specifier.startsWith("systole/plugins/") ? plugin(specifier.slice(16)) : specifier
}

module.registerHooks?.({ resolve: (specifier, context, next) => next(locate(specifier), context) })
