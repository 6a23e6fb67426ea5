/**
 * The shrinking of a plan that fails: a smaller one that still fails in the same way.
 *
 * @module
 */
import type { Plan, Step } from "./Plan.ts"
import type { Program } from "./Program.ts"
import type * as Simulation from "./Simulation.ts"
import * as Trial from "./Trial.ts"

/** The list without each of its parts: halves at first, then quarters, down to single items. */
const without = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const lists: Array<ReadonlyArray<A>> = []
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < items.length; at += size) lists.push([...items.slice(0, at), ...items.slice(at + size)])
  }
  return lists
}

/** The smaller programs next to a program. */
const smaller = (program: Program): ReadonlyArray<Program> => [
  ...without(program),
  ...program.flatMap((instruction, i): ReadonlyArray<Program> => {
    const put = (...instructions: Program): Program => [...program.slice(0, i), ...instructions, ...program.slice(i + 1)]
    if (instruction.do === "all" || instruction.do === "race") {
      return [
        ...instruction.branches.map((branch) => put(...branch)),
        ...without(instruction.branches).map((branches) => put({ ...instruction, branches })),
        ...instruction.branches.flatMap((branch, at) =>
          smaller(branch).map((less) => put({ ...instruction, branches: instruction.branches.with(at, less) })))
      ]
    }
    if (instruction.do === "finally" || instruction.do === "undo") {
      return [
        put(...instruction.body),
        ...smaller(instruction.body).map((body) => put({ ...instruction, body })),
        ...smaller(instruction.last).map((last) => put({ ...instruction, last }))
      ]
    }
    if (instruction.do === "spy") {
      return [
        put(...instruction.body),
        put(...instruction.other),
        ...smaller(instruction.body).map((body) => put({ ...instruction, body })),
        ...smaller(instruction.other).map((other) => put({ ...instruction, other }))
      ]
    }
    if (instruction.do !== "send" && instruction.do !== "hand" && instruction.do !== "operate") return []
    return smaller(instruction.body).map((body) => put({ ...instruction, body }))
  })
]

/** The smaller plans next to a plan. A step that is omitted keeps its place, so that the others keep their meaning. */
function* candidates(plan: Plan): Iterable<Plan> {
  const steps = (changed: ReadonlyArray<Step>): Plan => ({ ...plan, steps: changed })
  for (const list of without(plan.steps)) yield steps(list)
  for (const absent of without(plan.absent)) yield { ...plan, absent }
  for (const faults of without(plan.faults)) yield { ...plan, faults }
  for (const driver of without(plan.driver)) yield { ...plan, driver }
  for (const bank of without(plan.bank)) yield { ...plan, bank }
  for (const network of without(plan.network)) yield { ...plan, network }
  if (plan.open !== undefined) yield { ...plan, open: undefined }
  if (plan.isOnFiles) yield { ...plan, isOnFiles: false }
  if (plan.jobs !== 4) yield { ...plan, jobs: 4 }
  if (plan.hasSchedule) yield { ...plan, hasSchedule: false }
  if (plan.hasAgent) yield { ...plan, hasAgent: false }
  if (Object.keys(plan.retention).length > 0) yield { ...plan, retention: {} }
  if (plan.secrets !== 0) yield { ...plan, secrets: 0 }
  if (plan.isLabelled) yield { ...plan, isLabelled: false }
  if (plan.isSmall) yield { ...plan, isSmall: false }
  if (plan.hosts > 1) yield { ...plan, hosts: 1 }
  if (plan.spaces.length > 1) yield { ...plan, spaces: plan.spaces.slice(0, -1) }
  for (const [i, step] of plan.steps.entries()) {
    for (const program of smaller(step.program)) yield steps(plan.steps.with(i, { ...step, program }))
  }
}

/** A plan that fails. */
interface Failing {
  readonly plan: Plan
  readonly failure: Simulation.Failure
}

/** Shrinks a plan that fails, by simulations of at most so many actions in all. */
export const shrink = async (plan: Plan, failure: Simulation.Failure, most = 12_000): Promise<Failing> => {
  let best = { plan, failure }
  for (let acted = 0, found = true; found;) {
    found = false
    for (const candidate of candidates(best.plan)) {
      // To begin and to end a world takes as long as some actions.
      acted += 10 + candidate.steps.length
      if (acted > most) return best
      const other = await Trial.again(candidate, failure.checker)
      if (other === undefined || other.checker !== failure.checker) continue
      best = { plan: candidate, failure: other }
      found = true
      break
    }
  }
  return best
}

/** A plan that fails, as a test to add to `test/simulation/Found.test.ts`. */
export const asTest = ({ failure, plan }: Failing): string => [
  `// ${failure.checker}: ${failure.message.split("\n", 1).join().slice(0, 300)}`,
  `it(${JSON.stringify(`a world in which ${failure.checker} broke`)}, async () => {`,
  "  const plan: Plan = {",
  ...Object.entries(plan).filter(([key]) => key !== "steps").map(([key, value]) => `    ${key}: ${JSON.stringify(value) ?? "undefined"},`),
  "    steps: [",
  ...plan.steps.map((step) => `      ${JSON.stringify(step)},`),
  "    ]",
  "  }",
  "  assert.isUndefined((await Trial.run(plan)).failure)",
  "})"
].join("\n")
