import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Redacted } from "systole"
import * as Config from "../../src/loader/Config.ts"
import * as Gate from "../../src/main/workers/Gate.ts"
import type * as ManifestModules from "../../src/main/module/ManifestModules.ts"
import type { Env } from "../../src/main/workers/Platform.ts"
import * as Settings from "../../src/main/workers/Settings.ts"

const built = (definition: Config.Definition) => {
  const { token, ...settings } = Effect.runSync(Config.settings(definition))
  return { version: "0.1.0", environment: undefined, hasToken: token !== undefined, settings, slices: [], manifest: {}, kept: {} }
}

const none = { hooks: [], origins: [], hasJwt: false, public: [], rates: {} }

const settings = (definition: Config.Definition, given: object) => {
  const env = given as Env
  const { settings } = built(definition)
  const admitted = { ...Gate.withSecrets(settings, env), ...none }
  return Settings.ofBuild(built(definition), env, Gate.make(admitted, Gate.isPublic(env), env))
}

describe("The settings of a Worker that is written by hand", () => {
  const refusalOf = (config: Config.Definition, env = {}): string => {
    try {
      Settings.make({ manifest: {}, config }, env as Env)
    } catch (error) {
      return String(error)
    }
    return "none"
  }

  it("are refused with the place of their configuration, and name no file that is not there", () => {
    const place = "See to the field config of make() of systole/workers"
    const reasons = { without: ["flow"], spaces: { create: "never" }, backup: { folder: "backups" } }
    for (const [field, value] of Object.entries(reasons)) {
      const refusal = refusalOf({ token: "a-token-of-this-test", [field]: value })
      assert.include(refusal, field)
      assert.include(refusal, place)
    }
    assert.match(refusalOf({}), /Set the secret SYSTOLE_TOKEN.* See to the field config of make\(\)/s)
    assert.throws(() => settings({ host: "0.0.0.0" }, {}), "See to systole.config.ts")
  })
})

describe("the settings of a built Worker", () => {
  it("take their tokens from its secrets alone", () => {
    const labels = { cells: { "/data/pay/**": ["salary"] }, readers: { hr: { clearance: ["salary"] } } }
    const env = { SYSTOLE_TOKEN: "the-operators-own-token", SYSTOLE_TOKEN_HR: "the-token-of-a-reader" }
    const { config } = settings({ token: "a-token-of-the-project", labels }, env)
    const texts = [config.token, ...config.readers.map(({ token }) => token)].map((token) => token && Redacted.value(token))
    assert.deepStrictEqual(texts, [env.SYSTOLE_TOKEN, env.SYSTOLE_TOKEN_HR])
    assert.throws(() => settings({ token: "a-token-of-the-project", labels }, {}), "SYSTOLE_TOKEN_HR")
  })

  it("are refused without a token, unless the Worker is public", () => {
    assert.throws(() => settings({ host: "0.0.0.0" }, {}), "Set the secret SYSTOLE_TOKEN")
    assert.throws(() => settings({}, { SYSTOLE_PUBLIC: "yes" }), "Set the secret SYSTOLE_TOKEN")
    assert.isUndefined(settings({}, { SYSTOLE_PUBLIC: "true" }).config.token)
  })

  it.effect("load the modules once for all objects of an isolate, unless one is broken", () =>
    Effect.gen(function*() {
      const module = Enzyme.make({ name: "receive", query: "/signals/receive", run: () => 1 })
      const file = { module, hash: "0".repeat(64) }
      const env = { SYSTOLE_PUBLIC: "true" } as unknown as Env
      const gate = Gate.make({ token: undefined, readers: [], host: "127.0.0.1", ...none }, true, env)
      const loadOf = (manifest: ManifestModules.Manifest) => Settings.ofBuild({ ...built({}), manifest }, env, gate).load
      const load = loadOf({ "enzymes/receive.ts": file })
      const [first, second] = [yield* load, yield* load]
      assert.deepStrictEqual(first.enzymes.map(({ enzyme }) => enzyme.name), ["receive"])
      assert.strictEqual(first, second)
      const broken = loadOf({ "enzymes/receive.ts": file, "enzymes/none.ts": { ...file, module: undefined } })
      const [third, fourth] = [yield* broken, yield* broken]
      assert.notStrictEqual(third, fourth)
      assert.deepStrictEqual([third, fourth].map((found) => found.broken.length), [1, 1])
    }))
})
