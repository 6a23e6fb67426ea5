/**
 * Templates for a new enzyme or plugin.
 *
 * @module
 */

/** The texts of files, by path. */
export type Files = Readonly<Record<string, string>>

/**
 * An enzyme that counts the signals it handles.
 */
export const enzyme = (name: string): Files => ({
  [`enzymes/${name}.ts`]: `import * as Schema from "effect/Schema"
import { Cell, Enzyme } from "systole"

export const Counts = Cell.family("/data/${name}/:who", Schema.Struct({ times: Schema.Natural }))

export default Enzyme.make({
  name: "${name}",
  query: "/signals/${name}/:who",
  writes: [Counts],
  run: (tx, { params: { who } }) => {
    const count = Counts.at({ who })
    tx.increment(Cell.into(count, "times"))
    return tx.get(count)
  }
})
`
})

/**
 * A plugin with one enzyme.
 */
export const plugin = (name: string): Files => ({
  [`plugins/${name}.ts`]: `import * as Schema from "effect/Schema"
import { Cell, Enzyme, Plugin } from "systole"

export const Pings = Cell.of("/data/${name}/pings", Schema.Natural)

const ping = Enzyme.make({
  name: "${name}_ping",
  query: "/signals/${name}/ping",
  writes: [Pings],
  run: (tx) => {
    tx.increment(Pings)
    return tx.get(Pings)
  }
})

export default Plugin.make({
  name: "${name}",
  version: "0.1.0",
  provides: {},
  enzymes: [ping]
})
`
})
