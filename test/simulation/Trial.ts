/**
 * The trial of a plan: one world and, where it has labels, its twins.
 *
 * @module
 */
import type { Plan } from "./Plan.ts"
import * as Simulation from "./Simulation.ts"
import * as Twins from "./Twins.ts"

/** The name of the rule that twins look the same. */
const TWINS = "twins"

const twins = async (plan: Plan): Promise<Simulation.Failure | undefined> => {
  const message = await Twins.difference(plan).catch((error: unknown) => error instanceof Error ? String(error.stack) : String(error))
  return message === undefined ? undefined : { seed: plan.seed, step: plan.steps.length, checker: TWINS, message }
}

/** Simulates a plan, and compares its twins. */
export const run = async (plan: Plan): Promise<Simulation.Result> => {
  const result = await Simulation.run(plan)
  return result.failure !== undefined || !plan.isLabelled ? result : { ...result, failure: await twins(plan) }
}

/** Looks again whether a rule breaks. */
export const again = async (plan: Plan, checker: string): Promise<Simulation.Failure | undefined> =>
  checker === TWINS ? twins(plan) : (await Simulation.run(plan)).failure
