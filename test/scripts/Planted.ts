/**
 * Planted faults: the proof that the simulator finds defects which lie between subsystems.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { command, root } from "./Host.ts"
import { run } from "./Process.ts"

/** The names of the planted faults, which are mutants, by the subsystems between which they lie. */
export const faults = JSON.parse(readFileSync(join(root, "test/simulation/planted.json"), "utf8")) as Readonly<Record<string, string>>

/** How long the simulator looks, from which seed on. */
export interface Search {
  readonly seed: number
  readonly minutes: number
}

/** The end of the search for a planted fault. */
export interface Finding {
  readonly name: string
  /** The number of seeds until it was found; `undefined` if it was not. */
  readonly seeds: number | undefined
  readonly seconds: number
  /** The rule that broke. */
  readonly note: string
}

const plant = join(root, "test/scripts/plant.mjs")

/** Simulates with a planted fault until a rule breaks. */
export const find = async (name: string, { minutes, seed }: Search): Promise<Finding> => {
  const [node, ...args] = command("node", join(root, "test/scripts/simulate.ts"))
  const { millis, output } = await run(
    [node, "--import", plant, ...args, "--seed", String(seed), "--minutes", String(minutes), "--first"],
    { env: { SYSTOLE_PLANTED: name } }
  )
  const found = /^seed (\d+), (step .*)$/m.exec(output)
  const seeds = found === null ? undefined : Number(found[1]) - seed + 1
  return { name, seeds, seconds: millis / 1000, note: (found?.[2] ?? output.trim().split("\n").at(-1) ?? "").slice(0, 160) }
}
