/**
 * Persistence in memory: all data is lost when the process ends.
 *
 * @module
 */
import { MemoryStore, Plugin } from "systole"

export default Plugin.make({
  name: "memory",
  version: "0.1.0",
  provides: { persistence: () => MemoryStore.layer }
})
