/**
 * The enzymes of a simulated world. Each runs the program of its signal.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { Enzyme } from "systole"
import type { RestoredModule } from "../../src/kernel/model/ModuleRestore.ts"
import * as Derived from "./Derived.ts"
import * as Ledgers from "./Ledgers.ts"
import { type Outside, type Program, run, runAtOnce, wakes } from "./Program.ts"

/** The differences between the enzymes. */
const variants = {
  plain: {},
  loose: { order: "loose" },
  lane: { lane: "space" },
  careful: { isolation: "serializable", retry: { attempts: 4, delay: "20ms", factor: 3, max: "1s", jitter: 0.5 } },
  durable: { durable: true, hears: wakes },
  exact: { durable: true, hears: wakes, isolation: "serializable" },
  ordered: { durable: true, hears: wakes, order: "strict" }
} as const satisfies Record<string, Partial<Enzyme.Definition>>

export const names = Object.keys(variants) as ReadonlyArray<keyof typeof variants>
export const plainNames = names.filter((name) => !("durable" in variants[name]))
export const durableNames = names.filter((name) => "durable" in variants[name])

/** The enzymes whose lanes are in order: signal and target. */
export const strictNames: ReadonlyArray<string> = ["plain", "careful", "ordered"]

/** The enzyme of a name in a version, over a world. A run counts in the cell of its version. */
export const enzymeOf = (name: string, version: number, outside: Outside): Enzyme.Enzyme => {
  const options: Partial<Enzyme.Definition> = variants[name as keyof typeof variants]
  const body = options.durable === true ? run : runAtOnce
  return Enzyme.make({
    retry: { attempts: 4 },
    ...options,
    name,
    query: `/signals/${name}/:n`,
    bind: ["/data/t", "/rt/ops"],
    run: (tx, event) => {
      if (event.params["n"] === "paid") return Ledgers.paid(tx, event.payload)
      // A run that writes waits until a paused space goes on, and one that asks first does not.
      if ((event.payload as unknown as Program)[0]?.do !== "pay") tx.increment(`/data/versions/${version}`)
      return body(tx, event, { enzyme: name, outside })
    }
  })
}

/** The code of a module, whose text is its kind, its name and its version. */
export const codeOf = (kind: "enzyme" | "node", name: string, version: number) => {
  const text = `${kind} ${name} ${version}`
  return { hash: createHash("sha256").update(text).digest("hex"), text, file: fileOf(name) }
}

export const fileOf = (name: string): string => `${name}.ts`

/** Makes the module of a text again, as a host imports it. */
export const restore = (outside: Outside) => (_: string, text = ""): Promise<RestoredModule | string> => {
  const [kind, name = "", version] = text.split(" ")
  if (kind === "enzyme") return Promise.resolve({ enzymes: [enzymeOf(name, Number(version), outside)], nodes: [] })
  if (kind === "node") return Promise.resolve({ enzymes: [], nodes: [Derived.moduleOf(Derived.named(name), Number(version))] })
  return Promise.resolve("the text is of no module")
}
