/**
 * A complete Worker: the ingress over a manifest of modules, as a build writes it.
 *
 * @module
 */
import { Enzyme } from "systole"
import * as Worker from "../../src/main/worker.ts"

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greetings/*"],
  run: (tx, event) => tx.set(`/data/greetings/${(event.payload as { readonly who: string }).who}`, "hello")
})

export default Worker.make({
  manifest: { "enzymes/greet.ts": { module: greet, hash: "0".repeat(64) } },
  config: { enzymes: ["enzymes"], spaces: { create: "on-demand" }, token: "a-token-for-tests" }
})
