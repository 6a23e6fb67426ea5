/**
 * One signal posted, handled by an enzyme that writes a cell, its receipt
 * durable, and answered: against a server written by hand for just that.
 */
import { bench } from "./Durable.ts"

export default await bench({ path: "/v1/spaces/bench/signals", concurrencies: [1, 16, 256], rounds: 3, counted: "events" })
