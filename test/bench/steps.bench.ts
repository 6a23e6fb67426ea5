/**
 * A chain of ten signals, each handled in its own beat and answered when the last
 * result is durable, compared with ten commits written by hand. In a chain of a
 * thousand, a late step must cost no more than an early one.
 */
import { bench } from "./Durable.ts"
import { longChain } from "./LateSteps.ts"

const { cases, ...rest } = await bench({ path: "/chain", concurrencies: [1, 16, 64], rounds: 3, counted: "chains" })

export default { ...rest, cases: [...cases, longChain] }
