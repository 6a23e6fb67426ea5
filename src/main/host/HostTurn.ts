/**
 * The turns of the event loop of a host with files: Node, Deno and Bun.
 *
 * @module
 */
import { setImmediate } from "node:timers"
import type { Turn } from "../../kernel/model/Pacemaker.ts"

const empty = new Uint8Array(0)

/**
 * A turn of the event loop of Node and Bun.
 */
export const turn: Turn = (run) => void setImmediate(run)

/**
 * A turn of Deno's event loop.
 *
 * Deno does not poll its sockets between immediates, but does so while it waits for another thread. A digest is the
 * cheapest work for another thread.
 */
export const ofDeno: Turn = (run, again) =>
  again === true ? void crypto.subtle.digest("SHA-256", empty).then(run, run) : void setImmediate(run)

/**
 * The turn of this host.
 */
export const current: Turn = "Deno" in globalThis ? ofDeno : turn
