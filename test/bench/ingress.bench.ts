/**
 * One signal: posted, handled by an enzyme that writes a cell, and answered when
 * its receipt is durable. The baseline is a server written by hand for this task.
 */
import { bench, memory, type Plan } from "./Durable.ts"

const plan: Plan = { path: "/v1/spaces/bench/signals", concurrencies: [1, 16, 256], rounds: 3, counted: "events" }
const { cases, ...rest } = await bench(plan)

export default { ...rest, cases: [...cases, memory(plan)] }
