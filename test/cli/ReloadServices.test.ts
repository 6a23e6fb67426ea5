import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

/** A plugin whose service has a word, and prints its end. `building` comes before the service is there. */
const plugin = (word: string, building = "Effect.void"): string => `import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Plugin } from "systole"

export class Words extends Context.Service<Words, { readonly word: string }>()("shop/Words") {}

const acquired = Effect.acquireRelease(
  Effect.succeed({ word: "${word}" }), () => Effect.sync(() => console.error("the service ${word} ended"))
)
const services = Layer.effect(Words, Effect.tap(acquired, () => ${building}))

export default Plugin.make({ name: "words", version: "1.0.0", services })
`

const files = {
  "systole.config.ts": "export default { spaces: { create: 'on-demand' }, limits: { serviceMillis: 400 } }\n",
  "plugins/words.ts": plugin("one"),
  "enzymes/say.ts": `import * as Effect from "effect/Effect"
import { Enzyme } from "systole"
import { Words } from "../plugins/words.ts"

export default Enzyme.make({
  name: "say", query: "/signals/say", services: [Words], run: () => Effect.map(Words, ({ word }) => word)
})
`
}

/** A reload, as `systole dev --json` prints it. */
interface Reloaded {
  readonly broken: ReadonlyArray<{ readonly file: string; readonly message: string }>
  readonly mended: ReadonlyArray<string>
}

describe("A service under systole dev", () => {
  it.live("stays while its next layer fails or hangs, which is told by name; a replaced one ends", () =>
    Effect.flatMap(terminal(files), ({ json, serve, write }) =>
      Effect.promise(async () => {
        const { next, stop, told } = await serve("dev")
        const said = async (): Promise<unknown> => {
          const { handlings } = await json("signal", "shop", "--signal", "/signals/say", "--wait", "60") as {
            readonly handlings: ReadonlyArray<{ readonly value: unknown }>
          }
          return handlings[0]?.value
        }
        const reloaded = async () => await next() as Reloaded
        assert.strictEqual(await said(), "one")
        const refusals = {
          "Effect.fail(new Error(\"no words\"))": "its layer fails: no words", "Effect.never": "its layer is not built within 400 ms"
        }
        for (const [building, reason] of Object.entries(refusals)) {
          write("plugins/words.ts", plugin("broken", building))
          const { broken } = await reloaded()
          assert.deepStrictEqual(broken.map(({ file }) => file), ["plugins/words.ts"])
          await told(`The services of the plugin "words" are refused: ${reason}`)
          await told("the service broken ended")
          assert.strictEqual(await said(), "one")
        }
        write("plugins/words.ts", plugin("two"))
        const { broken, mended } = await reloaded()
        assert.deepStrictEqual([broken, mended], [[], ["plugins/words.ts"]])
        assert.strictEqual(await said(), "two")
        await told("the service one ended")
        const { stderr } = await stop("SIGTERM")
        const ends = Array.from(stderr.matchAll(/the service (\w+) ended/g), ([, word]) => word)
        assert.deepStrictEqual(ends, ["broken", "broken", "one", "two"])
      })))
})
