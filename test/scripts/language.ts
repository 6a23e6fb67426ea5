/**
 * `npm run language [-- --brief | --keep]`: the figures of each folder beside its limits.
 *
 * `--brief` prints a line for each figure instead; `--keep` makes the figures the limits.
 *
 * @module
 */
import * as Folders from "../language/Folders.ts"
import * as Language from "../language/Language.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"

const { values: { brief: isBrief, keep } } = Options.read({
  script: "language",
  about: "Measures the language of each folder and each page, beside its limits.",
  options: { brief: Options.flag("Prints a line for each figure"), keep: Options.flag("Makes the figures the limits") }
})
const names = Object.keys(Language.goals) as ReadonlyArray<keyof Language.Shares>
const measured = Folders.measured()

/** The figures of each folder; a figure that is not at its limit stands beside it. */
const byFolder = (): string => {
  const rows = [...measured].map(([folder, shares]) => {
    const limits = Folders.limits(folder)
    return [folder, ...names.map((name) => shares[name] === limits[name] ? String(shares[name]) : `${shares[name]} of ${limits[name]}`)]
  })
  return render(["folder", ...names], rows)
}

/** Each figure of the house and of public sources beside its goal, and how many folders do not reach it. */
const brief = (): string => {
  const sums: ReadonlyArray<string> = [Folders.HOUSE, Folders.PUBLIC]
  const folders = [...measured].filter(([folder]) => !sums.includes(folder))
  const rows = names.map((name) => {
    const over = folders.filter(([, shares]) => shares[name] > Language.goals[name])
    const of = (sum: string, goals: Language.Shares) => `${measured.get(sum)?.[name]} of ${goals[name]}`
    return [name, of(Folders.HOUSE, Language.goals), of(Folders.PUBLIC, Language.publicGoals), `${over.length} of ${folders.length}`]
  })
  return render(["language", ...sums, "folders over the goal"], rows)
}

if (keep) Folders.keep()
console.log(isBrief ? brief() : byFolder())
