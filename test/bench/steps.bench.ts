/**
 * A chain of ten signals, each handled in a beat of its own, answered when the
 * last result is durable: against ten commits written by hand. And one chain of
 * a thousand, of which a late step has to cost what an early one does.
 */
import { bench } from "./Durable.ts"
import { longChain } from "./LongChain.ts"

const { cases, ...rest } = await bench({ path: "/chain", concurrencies: [1, 16, 64], rounds: 3, counted: "chains" })

export default { ...rest, cases: [...cases, longChain] }
