/**
 * Starts one of the project's scripts: `node test/scripts/run.mjs NAME …`.
 *
 * It is JavaScript so that a Node too old for the rest can still say so.
 *
 * @module
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 12)) {
  console.error(`This is Node ${process.versions.node}, and the project needs 22.12 or newer. On Linux, "npm ci" brings Node 24 along; elsewhere install Node 24.`)
  process.exit(2)
}
const [name, ...rest] = process.argv.slice(2)
const script = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
// Before 22.18 Node strips types only when it is told to.
const flags = process.features.typescript ? [] : ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"]
const source = new URL("source.mjs", import.meta.url).href
const { status } = spawnSync(process.execPath, [...flags, "--import", source, script, ...rest], { stdio: "inherit" })
process.exitCode = status ?? 1
