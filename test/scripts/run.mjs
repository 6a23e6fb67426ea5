/**
 * Starts a script of the project: `node test/scripts/run.mjs NAME …` for one
 * that lies here, or a path that ends in `.ts` for one that lies elsewhere.
 *
 * It is JavaScript so that an outdated Node can still report its version.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`This is Node ${process.versions.node}, and the project needs 22.19 or newer. On Linux, "npm ci" brings Node 24 along; elsewhere install Node 24.`)
  process.exit(2)
}
const [name = ""] = process.argv.slice(2)
const script = name.endsWith(".ts") ? resolve(name) : fileURLToPath(new URL(`${name}.ts`, import.meta.url))
if (!existsSync(script)) {
  console.error(`There is no script "${name}". Those that there are stand in package.json`)
  process.exit(2)
}
process.argv.splice(1, 2, script)
await import("./source.mjs")
const { follow } = await import("../../src/main/watchdog/ParentProcess.ts")
follow()
await import(pathToFileURL(script).href)
