/**
 * Versions of a durable enzyme that waits for a signal.
 *
 * @module
 */
import { Enzyme } from "systole"
import { make } from "../../src/main/workers/index.ts"
import { counted } from "./counted.ts"

/** `one` and `two` make the same calls; `other` makes another one first. */
const waits = (version: "one" | "two" | "other"): Enzyme.Enzyme =>
  Enzyme.make({
    name: "wait",
    query: "/signals/wait",
    writes: ["/data/ended/*"],
    durable: true,
    hears: [{ signal: "/signals/go", target: "/data/go" }],
    run: async (tx, event) => {
      if (version === "other") await tx.sleep({ beats: 3 })
      await tx.waitForSignal("/signals/go", "/data/go")
      tx.increment(`/data/ended/${(event.payload as { readonly who: string }).who}`)
      tx.increment(`/data/ended/by-${version}`)
    }
  })

/** The exports of a Worker with a version. */
export const deployed = (version: "one" | "two" | "other") =>
  counted(make({
    manifest: { "enzymes/wait.ts": { module: waits(version), hash: { one: "1", two: "2", other: "3" }[version].repeat(64) } },
    config: { enzymes: ["enzymes"], spaces: { create: "on-demand" } }
  }))
