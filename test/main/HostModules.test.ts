import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Plugin } from "systole"
import * as Loader from "../../src/loader/Loader.ts"
import { type LoadedModule, ModuleHost } from "../../src/loader/ModuleHost.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"

type Files = Readonly<Record<string, string>>

const write = (root: string, files: Files): void => {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
}

/** A project in a temporary folder, removed when the scope closes. */
const project = (files: Files) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "systole-modules-"))
      write(root, files)
      return root
    }),
    (root) => Effect.sync(() => rmSync(root, { recursive: true }))
  )

const within = <A, E>(root: string, effect: Effect.Effect<A, E, ModuleHost>) =>
  Effect.provide(effect, Layer.fresh(HostModules.layer(root).pipe(Layer.provide(HostHash.layer))))

const loadAll = (root: string) => within(root, Loader.load({ enzymes: ["enzymes"], plugins: ["plugins"], required: [], millis: 10_000 }))
const load = (root: string, file: string) => within(root, ModuleHost.use((host) => host.load(file)))

const good = `import { Enzyme } from "systole"
import * as Schema from "effect/Schema"
import { answer } from "../lib/answer.ts"
enum Kind { One = 1 }
export default Enzyme.make({ name: "good", query: "/signals/good", payload: Schema.Number, run: (): number => answer + Kind.One })
`
const lib: Files = { "lib/answer.ts": "export const answer: number = 41\n" }

describe("HostModules", () => {
  it.effect("loads modules and reports each broken one with its file and reason", () =>
    Effect.gen(function*() {
      const root = yield* project({
        ...lib,
        "enzymes/good.ts": good,
        "enzymes/syntax.ts": "export default {\n  name: 'x',\n  run: ) =>\n}\n",
        "enzymes/throws.ts": "throw new Error('no luck')\n",
        "enzymes/wrong.ts": "export default { name: 'wrong', query: 'no slash', run: () => 1 }\n",
        "enzymes/absent.ts": "import './nothing.ts'\nexport default {}\n",
        "enzymes/missing.ts": "import x from 'no-such-package'\nexport default x\n",
        "enzymes/host.ts": "import { readFileSync } from 'node:fs'\nexport default { name: 'host', query: '', run: () => " +
          "readFileSync('x') }\n",
        "enzymes/trusted.ts": "import { sep } from 'path'\nexport default { name: 'trusted', query: '', trusted: true, run: () => sep }\n"
      })
      const found = yield* loadAll(root)
      assert.deepStrictEqual(found.enzymes.map((item) => item.enzyme.name), ["good", "trusted"])
      const reasons = Object.fromEntries(found.broken.map((broken) => [broken.file, broken.message]))
      assert.include(reasons["enzymes/syntax.ts"], "syntax.ts:3:8")
      assert.include(reasons["enzymes/throws.ts"], "no luck")
      assert.include(reasons["enzymes/wrong.ts"], "no slash")
      assert.include(reasons["enzymes/absent.ts"], "absent.ts:1")
      assert.include(reasons["enzymes/missing.ts"], "no-such-package")
      assert.include(reasons["enzymes/host.ts"], "node:fs")
      assert.strictEqual(found.broken.length, 6)
    }))

  it.effect("tells each import that is missing, with its place in the project", () =>
    Effect.gen(function*() {
      const root = yield* project({
        "lib/more.ts": "import c from 'no-such-c'\nexport const more = c\n",
        "enzymes/packages.ts": "import a from 'no-such-a'\nimport b from 'no-such-b'\nimport { more } from '../lib/more.ts'\n" +
          "export default { name: 'x', query: '', run: () => [a, b, more] }\n"
      })
      const { broken: [broken] } = yield* loadAll(root)
      assert.deepStrictEqual(broken?.reason.split("; ").toSorted(), [
        "enzymes/packages.ts:1:15: Could not resolve \"no-such-a\"",
        "enzymes/packages.ts:2:15: Could not resolve \"no-such-b\"",
        "lib/more.ts:1:15: Could not resolve \"no-such-c\""
      ])
    }))

  it.effect("restores a module of an earlier version, which imported the types of actions from systole itself", () =>
    Effect.gen(function*() {
      const root = yield* project({})
      const text = `import { ActionType as Types, Plugin } from "systole-import:systole";\n` +
        `import { CellAgent } from "systole-import:systole";\n` +
        `export default Plugin.make({ name: CellAgent.SAVE.slice(9, 18), version: "1", provides: {}, ` +
        `enzymes: [Types.make({ type: "old", run: async () => ({ result: "old" }) })] })\n`
      const { module } = yield* within(root, ModuleHost.use((host) => host.restore("0".repeat(64), text)))
      assert.deepInclude(module, { name: "heartbeat" })
      assert.strictEqual((module as Plugin.Plugin).enzymes[0]?.name, "agent_old")
    }))

  it.effect("changes the hash of a module with its imported files, and restores it with them", () =>
    Effect.gen(function*() {
      const root = yield* project({ ...lib, "enzymes/good.ts": good })
      const first = yield* load(root, "enzymes/good.ts")
      write(root, { "lib/answer.ts": "export const answer = 42\n" })
      const second = yield* load(root, "enzymes/good.ts")
      write(root, lib)
      const third = yield* load(root, "enzymes/good.ts")
      assert.notStrictEqual(second.hash, first.hash)
      assert.strictEqual(third.hash, first.hash)
      const run = (loaded: typeof first) => (loaded.module as { run: () => number }).run()
      assert.deepStrictEqual([run(first), run(second)], [42, 43])
    }))

  it.live("gives a module again until a file of it, or a name that its imports find first, changes", () =>
    Effect.gen(function*() {
      const module = good.replace("answer.ts", "answer")
      const root = yield* project({ "lib/answer/index.ts": "export const answer = 41\n", "enzymes/good.ts": module })
      yield* within(root, Effect.gen(function*() {
        const host = yield* ModuleHost
        const next = host.load("enzymes/good.ts")
        /** Loads until the files are older than their bundle, and asserts that the module is the same from then on. */
        const settled = Effect.gen(function*() {
          let before = yield* next
          for (let now = yield* next; now !== before; now = yield* next) before = now
          return before
        })
        const run = (loaded: LoadedModule) => (loaded.module as { readonly run: () => number }).run()
        const first = yield* settled
        assert.strictEqual(run(first), 42)
        write(root, { "lib/other.ts": "" })
        const second = yield* settled
        assert.strictEqual(second.hash, first.hash)
        write(root, { "lib/answer/index.ts": "export const answer = 42\n" })
        assert.strictEqual(run(yield* next), 43)
        yield* settled
        write(root, { "lib/answer.ts": "export const answer = 43\n" })
        assert.strictEqual(run(yield* next), 44)
        yield* settled
        rmSync(join(root, "lib/answer.ts"))
        assert.strictEqual(run(yield* next), 43)
        yield* settled
        rmSync(join(root, "enzymes/good.ts"))
        assert.strictEqual((yield* Effect.flip(next)).code, "module/broken")
        write(root, { "enzymes/good.ts": "export default 1\n" })
        assert.strictEqual((yield* next).module, 1)
        yield* settled
        rmSync(join(root, ".systole"), { recursive: true })
        assert.strictEqual((yield* next).module, 1)
        assert.lengthOf(readdirSync(join(root, ".systole", "modules")), 2)
      }))
    }))

  it.effect("computes a hash that does not depend on the location of the project", () =>
    Effect.gen(function*() {
      const files = { ...lib, "enzymes/good.ts": good }
      const here = yield* load(yield* project(files), "enzymes/good.ts")
      const there = yield* load(yield* project(files), "enzymes/good.ts")
      assert.strictEqual(here.hash, there.hash)
    }))

  it.effect("resolves packages from the module's own folder", () =>
    Effect.gen(function*() {
      const root = yield* project({
        "node_modules/greeting/package.json": `{ "name": "greeting", "type": "module", "exports": "./index.js" }`,
        "node_modules/greeting/index.js": "export const greeting = 'outer'\n",
        "enzymes/node_modules/greeting/package.json": `{ "name": "greeting", "type": "module", "exports": "./index.js" }`,
        "enzymes/node_modules/greeting/index.js": "export const greeting = 'inner'\n",
        "shared.ts": "export { greeting } from 'greeting'\n",
        "enzymes/a.ts": "import { greeting } from 'greeting'\nimport * as shared from '../shared.ts'\nexport default [greeting, " +
          "shared.greeting]\n"
      })
      assert.deepStrictEqual((yield* load(root, "enzymes/a.ts")).module, ["inner", "outer"])
    }))

  it.effect("imports a module from its stored text, with the packages of the project", () =>
    Effect.gen(function*() {
      const files = {
        ...lib,
        "node_modules/greeting/package.json": `{ "name": "greeting", "type": "module", "exports": "./index.js" }`,
        "node_modules/greeting/index.js": "export const greeting = 'outer'\n",
        "enzymes/node_modules/greeting/package.json": `{ "name": "greeting", "type": "module", "exports": "./index.js" }`,
        "enzymes/node_modules/greeting/index.js": "export const greeting = 'inner'\n",
        "shared.ts": "export { greeting } from 'greeting'\n",
        "enzymes/a.ts": "import { Enzyme } from 'systole'\nimport * as Schema from 'effect/Schema'\nimport { sep } from " +
          "'node:path'\nimport { answer } from '../lib/answer.ts'\nimport { greeting } from 'greeting'\nimport * as shared from " +
            "'../shared.ts'\nexport default { greeting, shared: shared.greeting, answer, sep, Enzyme, Schema }\n"
      }
      const here = yield* load(yield* project(files), "enzymes/a.ts")
      const root = yield* project({ ...files, "lib/answer.ts": "", "shared.ts": "", "enzymes/a.ts": "" })
      const there = yield* within(root, ModuleHost.use((host) => host.restore(here.hash, here.text!)))
      assert.deepStrictEqual([there.module, there.hash, there.text], [here.module, here.hash, here.text])
      assert.deepStrictEqual((there.module as Readonly<Record<string, unknown>>).greeting, "inner")
      rmSync(join(root, "enzymes", "node_modules"), { recursive: true })
      rmSync(join(root, "node_modules"), { recursive: true })
      const error = yield* Effect.flip(within(root, ModuleHost.use((host) => host.restore(here.hash, here.text!))))
      assert.include(error.message, "greeting")
    }))

  it.effect("stores one bundle for each hash", () =>
    Effect.gen(function*() {
      const root = yield* project({ ...lib, "enzymes/good.ts": good })
      const { hash } = yield* load(root, "enzymes/good.ts")
      yield* load(root, "enzymes/good.ts")
      assert.deepStrictEqual(readdirSync(join(root, ".systole", "modules")).sort(), [`${hash}.mjs`, `${hash}.mjs.map`])
    }))

  it.effect("reports a missing file", () =>
    Effect.gen(function*() {
      const root = yield* project({})
      const error = yield* Effect.flip(load(root, "systole.config.ts"))
      assert.include(error.message, "no such file")
    }))
})
