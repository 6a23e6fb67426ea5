/**
 * Breaks the source that a process of Node loads, as one entry of `test/mutants/mutants.json` says: the one whose name is in
 * `SYSTOLE_PLANTED`. No file changes. Used as `node --import ./test/scripts/plant.mjs FILE`.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import process from "node:process"

const listed = JSON.parse(readFileSync(new URL("../mutants/mutants.json", import.meta.url), "utf8"))
const planted = listed.find(({ name }) => name === process.env.SYSTOLE_PLANTED)
if (planted === undefined) throw new Error(`test/mutants/mutants.json has no mutant "${process.env.SYSTOLE_PLANTED}"`)

const broken = new URL(`../../${planted.file}`, import.meta.url).href

registerHooks({
  load: (place, context, next) => {
    const loaded = next(place, context)
    if (place !== broken) return loaded
    const text = String(loaded.source)
    if (text.split(planted.find).length !== 2) throw new Error(`${planted.file} holds "${planted.find}" not exactly once`)
    return { ...loaded, source: text.replace(planted.find, () => planted.replace) }
  }
})
