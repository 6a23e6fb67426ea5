import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { terminal } from "./Terminal.ts"

const files = {
  "word.ts": "export const word = 'one'\n",
  "enzymes/say.ts": "import { word } from '../word.ts'\nexport default { name: 'say', query: '/signals/say', run: () => word }\n"
}

describe("systole dev", () => {
  it.live("reloads a module after a change, keeps the old one if the new one is broken, and replays old beats with the old one", () =>
    Effect.flatMap(terminal(files), ({ json, root, serve, write }) =>
      Effect.promise(async () => {
        const { next, stop } = await serve("dev")
        const said = async () => {
          const { handlings } = await json("signal", "shop", "--signal", "/signals/say", "--wait", "60") as {
            readonly handlings: ReadonlyArray<{ readonly value: unknown }>
          }
          return handlings.map(({ value }) => value)
        }
        const reloaded = async () => await next() as {
          readonly files: ReadonlyArray<string>
          readonly millis: number
          readonly swapped: Readonly<Record<"enzymes" | "nodes" | "removed", ReadonlyArray<string>>>
          readonly mended: ReadonlyArray<string>
          readonly restart: ReadonlyArray<string>
          readonly enzymes: ReadonlyArray<{ readonly name: string }>
          readonly broken: ReadonlyArray<{ readonly file: string }>
        }
        const unchanged = { enzymes: [], nodes: [], removed: [] }
        assert.deepStrictEqual(await said(), ["one"])
        write("word.ts", "export const word = 'two'\n")
        const { broken, files, millis, swapped } = await reloaded()
        assert.deepStrictEqual([broken, files, swapped], [[], ["word.ts"], { ...unchanged, enzymes: ["say"] }])
        assert.isAbove(millis, 0)
        assert.deepStrictEqual(await said(), ["two"])
        write("word.ts", "export const word = \n")
        assert.deepStrictEqual((await reloaded()).broken.map(({ file }) => file), ["enzymes/say.ts"])
        assert.deepStrictEqual(await said(), ["two"])
        write("word.ts", "export const word = 'three'\n")
        const mended = await reloaded()
        assert.deepStrictEqual([mended.broken, mended.mended], [[], ["enzymes/say.ts"]])
        assert.deepStrictEqual(await said(), ["three"])
        rmSync(join(root, "enzymes", "say.ts"))
        const removed = await reloaded()
        assert.deepStrictEqual([removed.enzymes, removed.swapped], [[], { ...unchanged, removed: ["say"] }])
        // A configuration takes effect with a restart, also where a file that it imports has changed.
        write("systole.config.ts", "import { tempo } from './tempo.ts'\n\nexport default { tempo }\n")
        write("tempo.ts", "export const tempo = 50\n")
        assert.deepStrictEqual((await reloaded()).restart, ["systole.config.ts"])
        write("tempo.ts", "export const tempo = 60\n")
        assert.deepStrictEqual((await reloaded()).restart, ["systole.config.ts"])
        write("plugins/later.ts", "import { Plugin } from 'systole'\n\nexport default Plugin.make({ name: 'later', version: '1', " +
          "provides: { channels: {} } })\n")
        assert.deepStrictEqual((await reloaded()).restart, ["plugins/later.ts"])
        write("plugins/listens.ts", "import * as Logger from 'effect/Logger'\nimport { Plugin } from 'systole'\n\n" +
          "export default Plugin.make({ name: 'listens', version: '1', telemetry: Logger.layer([]) })\n")
        assert.deepStrictEqual((await reloaded()).restart, ["plugins/listens.ts"])
        const replayed = async () => {
          const { beats, changed, difference = null, impossible = null } = await json("replay", "shop") as Readonly<Record<string, unknown>>
          return [Number(beats) >= 4, changed, difference, impossible]
        }
        assert.deepStrictEqual(await replayed(), [true, [], null, null])
        await stop("SIGTERM")
        assert.deepStrictEqual(await replayed(), [true, [], null, null])
      })))

  it.live("swaps a saved module within 300 ms", () =>
    Effect.flatMap(terminal({ ...files, "enzymes/other.ts": files["enzymes/say.ts"].replace("'say'", "'other'") }), ({ serve, write }) =>
      Effect.promise(async () => {
        const { next, stop } = await serve("dev")
        const all: Array<number> = []
        for (let step = 0; step < 5; step++) {
          write("enzymes/say.ts", files["enzymes/say.ts"].replace("=> word", `=> word + ${step}`))
          const { millis, swapped } = await next() as { readonly millis: number; readonly swapped: { readonly enzymes: unknown } }
          assert.deepStrictEqual(swapped.enzymes, ["say"])
          all.push(millis)
        }
        // Other work on the machine delays some of them.
        assert.isAtMost(Math.min(...all), 300, String(all))
        await stop("SIGTERM")
      })))
})
