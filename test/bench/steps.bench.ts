/**
 * A chain of ten signals, each handled in a beat of its own, answered when the
 * last result is durable: against ten commits written by hand.
 */
import { bench } from "./Durable.ts"

export default await bench({ path: "/chain", concurrencies: [1, 16, 64], rounds: 3, counted: "chains" })
