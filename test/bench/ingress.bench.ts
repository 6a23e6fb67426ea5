/**
 * One signal: posted, handled by an enzyme that writes a cell, and answered when
 * its receipt is durable. The baseline is a server written by hand for this task.
 * `unnamed` is the runtime, too, and its callers give no ids. Requests with a token, a JSON Web Token and a session
 * are compared to those without a credential, on one server.
 */
import { bench, memory, type Plan } from "./Durable.ts"

const plan: Plan = {
  path: "/v1/spaces/bench/signals", concurrencies: [1, 16, 256], rounds: 3, counted: "events", hasUnnamed: true, credentials: [16, 256]
}
const { cases, ...rest } = await bench(plan)

export default { ...rest, cases: [...cases, memory(plan)] }
