/**
 * Templates for a new project, enzyme or plugin.
 *
 * @module
 */

/** The texts of files, by path. */
export type Files = Readonly<Record<string, string>>

/** The files of a project that no repository keeps: of the agent, its backups, its lock and its temporary files. */
const IGNORED = [
  "node_modules/", ".data/", ".systole/", "/history/", "/heartbeat*.lock", "/.heartbeat*",
  "dist/*", "!dist/workers/", "dist/workers/*", "!dist/workers/wrangler.jsonc", ""
].join("\n")

/**
 * A project with one enzyme. `installation` is its dependency specifier of this package.
 *
 * @category constructors
 * @since 0.1.0
 */
export const project = (name: string, installation: string): Files => {
  const files: Files = {
    "package.json": `${
      JSON.stringify(
        {
          name,
          version: "0.1.0",
          private: true,
          type: "module",
          scripts: { dev: "systole dev", start: "systole start", test: "node --test" },
          dependencies: { effect: "4.1.0", systole: installation },
          devDependencies: { "@types/node": "24" }
        },
        null,
        2
      )
    }\n`,
    "tsconfig.json": `${
      JSON.stringify(
        {
          compilerOptions: {
            target: "es2024",
            module: "nodenext",
            types: ["node"],
            strict: true,
            noEmit: true,
            skipLibCheck: true,
            allowImportingTsExtensions: true
          }
        },
        null,
        2
      )
    }\n`,
    ".gitignore": IGNORED,
    "systole.config.ts": `import { defineConfig } from "systole"

export default defineConfig({
  persistence: "sqlite"
})
`,
    ...enzyme("greet"),
    "test/greet.test.ts": `import { test } from "node:test"
import { expectCell, expectReceipt, TestSpace } from "systole/testing"
import greet, { Counts } from "../enzymes/greet.ts"

test("greet counts the greetings of each person", () =>
  TestSpace.use([greet], async (space) => {
    for (const times of [1, 2]) {
      expectReceipt(await space.handled({ signal: "/signals/greet/ann" }), { value: { times } })
    }
    await expectCell(space, Counts.at({ who: "ann" }), { times: 2 })
    await expectCell(space, Counts.at({ who: "bob" }), undefined)
  }))
`
  }
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [`${name}/${file}`, text]))
}

/**
 * An enzyme that counts the signals it handles.
 *
 * @category constructors
 * @since 0.1.0
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
 *
 * @category constructors
 * @since 0.1.0
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
