/**
 * `npm run language [-- --keep]`: the figures of each folder beside its limits; `--keep` makes them the limits.
 *
 * @module
 */
import process from "node:process"
import * as Folders from "../language/Folders.ts"
import * as Language from "../language/Language.ts"
import { render } from "./Table.ts"

const names = Object.keys(Language.goals) as ReadonlyArray<keyof Language.Shares>
if (process.argv.includes("--keep")) Folders.keep()
const rows = [...Folders.measured()].map(([folder, shares]) => {
  const limits = Folders.limits(folder)
  return [folder, ...names.map((name) => shares[name] === limits[name] ? String(shares[name]) : `${shares[name]} of ${limits[name]}`)]
})
console.log(render(["folder", ...names], rows))
