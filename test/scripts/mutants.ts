/**
 * `npm run mutants [-- PART …]`: makes each mutation in a copy of the project and
 * expects its tests to fail. A part of a name or of a file selects mutations.
 *
 * Few random trials detect most mutations, so the tests run with those first, and
 * as a soak where all pass.
 *
 * @module
 */
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import process from "node:process"
import type { Mutant, Verdict } from "../mutants/Mutants.ts"
import * as Mutants from "../mutants/Mutants.ts"
import { root } from "./Host.ts"
import * as Options from "./Options.ts"
import { render } from "./Table.ts"
import * as Tree from "./Tree.ts"
import { runVitest } from "./Vitest.ts"

/** The number of copies that run in parallel. */
const WORKERS = 2

/**
 * The time-outs of the tests of a mutation, by setting of `TRIALS`. A time-out is no survival, so that of a soak exceeds
 * the duration of sound tests by far, even on a busy machine.
 */
const LIMIT_MILLIS = { ok: 180_000, soak: 1_440_000 }

/** The time-out of a test. Many mutations make a test hang, and the usual time-out is generous. */
const HANG_MILLIS = 120_000

const test = (folder: string, tests: ReadonlyArray<string>, share: keyof typeof LIMIT_MILLIS) =>
  runVitest("node", ["--bail=1", `--testTimeout=${HANG_MILLIS}`, ...tests], {
    cwd: folder,
    limitMillis: LIMIT_MILLIS[share],
    env: { TRIALS: share }
  })

/** Runs tests over a mutated source, with more random trials as long as they pass. */
const detect = async (folder: string, tests: ReadonlyArray<string>) => {
  const run = await test(folder, tests, "ok")
  return Mutants.verdict(run) === "survived" ? test(folder, tests, "soak") : run
}

/** Applies one mutation, runs its tests, and reverts it. */
const judge = async (folder: string, mutant: Mutant): Promise<{ readonly verdict: Verdict; readonly note: string }> => {
  const file = join(folder, mutant.file)
  const before = await readFile(file, "utf8").catch(() => "")
  const made = Mutants.apply(mutant, before)
  if ("refused" in made) return { verdict: "broken", note: made.refused }
  await writeFile(file, made.text)
  const run = await detect(folder, mutant.tests)
  await writeFile(file, before)
  const verdict = Mutants.verdict(run)
  return { verdict, note: verdict === "broken" ? run.output.trim().split("\n").slice(-20).join("\n") : "" }
}

const { others: parts } = Options.read({
  script: "mutants",
  about: "Breaks the source in one place after the other, in a copy, and expects the tests to fail. PART selects by names and files.",
  others: "[PART …]",
  options: {}
})
const listed = JSON.parse(await readFile(join(root, "test", "mutants", "mutants.json"), "utf8")) as ReadonlyArray<Mutant>
const isSelected = ({ file, name }: Mutant): boolean =>
  parts.length === 0 || parts.some((part) => file.includes(part) || name.includes(part))
const mutants = listed.filter(isSelected)
if (mutants.length === 0) throw new Error(`No mutation has ${parts.join(" or ")} in its name or file; test/mutants/mutants.json lists them`)
const folders = await Promise.all(Array.from({ length: WORKERS }, () => Tree.copy("systole-mutants-")))
try {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))]
  const sound = await runVitest("node", tests, { cwd: folders[0]!, env: { TRIALS: "ok" } })
  if (Mutants.verdict(sound) !== "survived") throw new Error(`The tests fail without any mutation; mend them first\n${sound.output}`)
  const verdicts = new Map<Mutant, { readonly verdict: Verdict; readonly note: string }>()
  const waiting = [...mutants]
  await Promise.all(folders.map(async (folder) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const { note, verdict } = await judge(folder, mutant)
      verdicts.set(mutant, { note, verdict })
      if (verdict !== "caught") process.stderr.write(`${verdict}: ${mutant.name}\n`)
    }
  }))
  console.log(render(["mutant", "file", "result"], mutants.map((mutant) => [mutant.name, mutant.file, verdicts.get(mutant)!.verdict])))
  const having = (verdict: Verdict) => mutants.filter((mutant) => verdicts.get(mutant)?.verdict === verdict)
  const uncaught = [...having("survived"), ...having("broken")]
  for (const mutant of uncaught) console.error(`${mutant.name}: ${verdicts.get(mutant)!.verdict} ${verdicts.get(mutant)!.note}`)
  const hung = having("hung").length
  const late = hung === 0 ? "" : `; ${hung} of them by a time-out, which a busy machine may cause, too: run those again by name`
  console.log(`${mutants.length - uncaught.length} of ${mutants.length} caught${late}`)
  if (uncaught.length > 0) process.exitCode = 1
} finally {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })))
}
