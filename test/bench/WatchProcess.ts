/**
 * Measures the watched figures of one bench in one tree of the project: `WatchProcess.ts TREE BENCH` prints a JSON line
 * for each. The measuring is of this tree, the bench and the sources are of the other.
 *
 * @module
 */
import { join } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import type { Bench } from "./Bench.ts"
import * as Watch from "./Watch.ts"

const [tree = "", name = ""] = process.argv.slice(2)
const { default: bench } = await import(pathToFileURL(join(tree, "test", "bench", `${name}.bench.ts`)).href) as { readonly default: Bench }
for (const sample of await Watch.sample(name, bench.cases)) console.log(JSON.stringify(sample))
await bench.close?.()
