/**
 * A complete Worker: the classes and the handler over a manifest of modules, as a build writes it.
 *
 * @module
 */
import { Enzyme } from "systole"
import { make } from "../../src/main/workers/index.ts"

interface Greeted {
  readonly who: string
}

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greetings/*"],
  run: (tx, event) => tx.set(`/data/greetings/${(event.payload as Greeted).who}`, "hello")
})

const { Directory, Space, handler } = make({
  manifest: { "enzymes/greet.ts": { module: greet, hash: "0".repeat(64) } },
  config: { enzymes: ["enzymes"], spaces: { create: "on-demand" } }
})

export { Directory, Space }
export default handler
