/**
 * A promise of the host, which resolves in a later macrotask. Runs may make it: it tells no time, and is no timer.
 *
 * @module
 */

/** Resolves in a later macrotask. */
export const foreign = (): Promise<void> => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    port1.close()
    resolve()
  }
  port2.postMessage(0)
})
