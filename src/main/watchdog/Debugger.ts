/**
 * Whether a debugger may hold the process.
 *
 * @module
 */
import * as inspector from "node:inspector"
import process from "node:process"

/**
 * Whether a debugger is attached or can attach to the process.
 */
export const isPossible = (): boolean =>
  inspector.url() !== undefined
    || [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(" ")].some((option) => option.startsWith("--inspect"))
