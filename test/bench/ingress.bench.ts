/**
 * One signal posted, handled by an enzyme that writes a cell, its receipt
 * durable, and answered: against a server written by hand for just that.
 */
import { bench, memory, type Plan } from "./Durable.ts"

const plan: Plan = { path: "/v1/spaces/bench/signals", concurrencies: [1, 16, 256], rounds: 3, counted: "events" }
const { cases, ...rest } = await bench(plan)

export default { ...rest, cases: [...cases, memory(plan)] }
