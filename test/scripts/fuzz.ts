/**
 * `npm run fuzz [-- --seed 1] [--requests 1000]`: random requests to each endpoint, drawn by its own schemas.
 *
 * @module
 */
import process from "node:process"
import * as Options from "./Options.ts"
import { runVitest } from "./Vitest.ts"

const { values: { requests, seed } } = Options.read({
  script: "fuzz",
  about: "Sends random requests to each endpoint, drawn by its own schemas, and compares the answers with its contract.",
  options: {
    seed: Options.whole("Draws the requests", 1),
    requests: Options.whole("The number of requests to each endpoint", 1000, 1)
  }
})
const env = { FUZZ_SEED: String(seed), FUZZ_REQUESTS: String(requests) }
const { code, output } = await runVitest("node", ["test/ingress/Fuzz.test.ts"], { env })
console.log(output)
process.exitCode = code ?? 1
