/**
 * `npm run build`: a clean build of JavaScript, types and the bundled command in `dist/`.
 *
 * @module
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import process from "node:process"
import { bundle } from "./Command.ts"
import { root, tool } from "./Host.ts"
import * as Options from "./Options.ts"
import { run } from "./Process.ts"

Options.read({ script: "build", about: "A clean build of JavaScript, types and the bundled command in dist/.", options: {} })
await rm(join(root, "dist"), { recursive: true, force: true })
const { code, output } = await run([tool("tsc"), "-p", "test/scripts/tsconfig.build.json"])
process.stderr.write(output)
await bundle()
process.exitCode = code ?? 1
