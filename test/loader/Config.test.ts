import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { defineConfig, webhook } from "systole"
import agent from "systole/plugins/agent"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as Config from "../../src/loader/Config.ts"
import * as UnsetVariables from "../../src/loader/UnsetVariables.ts"
import * as Secrets from "../../src/loader/Secrets.ts"

const refusal = (definition: unknown) =>
  Effect.map(Effect.flip(Config.decode(definition, { parts: { agent } })), (error) => error.message)

/** A reader with the text of its token. */
const shown = ({ token, ...reader }: Secrets.ReaderToken) => ({ ...reader, token: Redacted.value(token) })

describe("Config", () => {
  describe("decode", () => {
    it.effect("has a default for everything", () =>
      Effect.gen(function*() {
        const config = yield* Config.decode(undefined)
        assert.deepStrictEqual(config.persistence, { use: "sqlite", options: {} })
        assert.deepStrictEqual([config.host, config.port, config.data, config.token], ["127.0.0.1", 4200, ".data", undefined])
        assert.deepStrictEqual(config, yield* Config.decode({}))
      }))

    it.effect("takes what a project says, and the defaults for the rest", () =>
      Effect.gen(function*() {
        const config = yield* Config.decode(defineConfig({ persistence: "memory", limits: { hops: 7 }, spaces: { create: "on-demand" } }))
        assert.strictEqual(config.persistence.use, "memory")
        assert.strictEqual(config.kernel.create, "on-demand")
        assert.strictEqual(config.kernel.limits.hops, 7)
        assert.strictEqual(config.kernel.limits.captureSignals, 1024)
      }))

    it.effect("takes a number of units or a time for each duration", () =>
      Effect.gen(function*() {
        const { channels, kernel: { limits, retention, tempo } } = yield* Config.decode(defineConfig({
          tempo: "50ms",
          limits: { moduleMillis: "2s", hops: 7 },
          retention: { journalMillis: "7d", journalBytes: 1000 },
          channels: { web: { use: "http", budget: "10s" } }
        }))
        assert.deepStrictEqual([tempo, limits.moduleMillis, limits.hops], [50, 2000, 7])
        assert.deepStrictEqual(retention, { journalMillis: 604_800_000, journalBytes: 1000 })
        assert.strictEqual(channels["web"]?.budget, "10s")
        assert.include(yield* refusal({ limits: { moduleMillis: "soon" } }), "or a time such as \"10s\"")
        assert.include(yield* refusal({ tempo: "2d" }), "milliseconds from 0 to 86400000, or a time")
        assert.include(yield* refusal({ limits: { hops: "10s" } }), "hops")
        const hook = (tolerance: string) =>
          webhook({ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", signal: "/signals/paid", tolerance })
        yield* Config.decode({ ingress: { "/hook": hook("5m") } })
        assert.include(yield* refusal({ ingress: { "/hook": hook("2d") } }), "give 1 to 86400 seconds, or a time")
      }))

    it.effect("refuses what does not fit, and names it", () =>
      Effect.gen(function*() {
        assert.include(yield* refusal({ port: 70_000 }), "port")
        assert.include(yield* refusal({ enzymse: ["x"] }), "enzymse")
        assert.include(yield* refusal({ limits: { hops: 0 } }), "hops")
        assert.include(yield* refusal({ persistence: "../evil" }), "persistence")
        assert.include(yield* refusal({ pages: { "/v1/mine": () => "" } }), "/v1/mine")
        assert.include(yield* refusal({ pages: { "/mine": "<p>" } }), "page")
        assert.include(yield* refusal("sqlite"), "systole.config.ts")
      }))

    it.effect("names the field nearest to an unknown one, with its place", () =>
      Effect.gen(function*() {
        assert.include(yield* refusal({ persistance: "sqlite" }), "there is no field \"persistance\"; there are agent, enzymes, ")
        assert.include(yield* refusal({ persistance: "sqlite" }), ". Did you mean persistence?")
        assert.include(yield* refusal({ limits: { hop: 3 } }), "Did you mean limits.hops?")
        assert.include(yield* refusal({ environments: { live: { prot: 80 } } }), "Did you mean environments.live.port?")
        assert.notInclude(yield* refusal({ wholly_other: 1 }), "Did you mean")
      }))

    it.effect("tells a value that is not there from a wrong one", () =>
      Effect.gen(function*() {
        const isUnset = (definition: unknown) => Effect.map(Effect.flip(Config.decode(definition)), ({ isUnset }) => isUnset)
        assert.isTrue(yield* isUnset({ token: undefined }))
        assert.isTrue(yield* isUnset({ ingress: { "/hook": webhook({ secret: undefined, signal: "/signals/paid" }) } }))
        assert.isFalse(yield* isUnset({ token: "short" }))
        assert.isFalse(yield* isUnset({ ingress: { "/hook": webhook({ secret: "short", signal: "/signals/paid" }) } }))
      }))

    it("names the variables that are not set after the sentences of the refusal", () => {
      const reasonOf = (reason: string) =>
        UnsetVariables.explain(new Config.InvalidConfig({ reason, isUnset: true }), "export default { tokn: process.env.TOKEN }", {}).reason
      assert.strictEqual(reasonOf("it is undefined"), "it is undefined. It reads the variable TOKEN, which is not set")
      assert.strictEqual(reasonOf("Did you mean token?"), "Did you mean token? It reads the variable TOKEN, which is not set")
    })

    it.effect("shows no secret of a value that does not fit", () =>
      Effect.gen(function*() {
        const secret = "whsec_of_your_endpoint"
        const message = yield* refusal({ ingress: { "/hook": { secret, signal: "/signals/paid" } } })
        assert.include(message, "ingress./hook is {\"secret\":\"a text of 22 characters\"")
        assert.notInclude(message, secret)
        for (const readers of [[{ token: secret }], { hr: secret }]) {
          assert.notInclude(yield* refusal({ labels: { cells: {}, readers } }), secret)
        }
      }))

    it.effect("leaves out slices, but none that another one or the configuration needs", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* Config.decode({})).without, [])
        assert.deepStrictEqual((yield* Config.decode({ without: ["rendezvous", "flows"] })).without, ["rendezvous", "flows"])
        assert.include(yield* refusal({ without: ["rendezvous"] }), "Add \"flows\" to without, or take both out")
        assert.include(yield* refusal({ without: ["requests"] }), "durable cannot do without it")
        const world = ["requests", "durable"]
        assert.include(yield* refusal({ without: world, channels: { clock: "timer" } }), "channels of the configuration cannot do")
        assert.include(yield* refusal({ without: world, agent: {} }), ", and agent of the configuration cannot do without it")
        assert.include(yield* refusal({ without: ["operations"] }), "\"rendezvous\"")
      }))

    it.effect("refuses the field features, and says what takes its place", () =>
      Effect.gen(function*() {
        assert.include(yield* refusal({ features: ["history"] }), "Leave it out; without: [\"rendezvous\", \"flows\", ")
        assert.include(yield* refusal({ environments: { production: { features: [] } } }), "there is no field features")
      }))

    it.effect("refuses an address that others reach unless there is a token", () =>
      Effect.gen(function*() {
        assert.include(yield* refusal({ host: "0.0.0.0" }), "0.0.0.0")
        const config = yield* Config.decode({ host: "0.0.0.0", token: "a-token-of-some-length" })
        assert.strictEqual(config.host, "0.0.0.0")
      }))
  })

  describe("environments", () => {
    const definition = defineConfig({
      port: 80,
      limits: { hops: 7 },
      environments: { production: { host: "0.0.0.0", limits: { inboxSignals: 9 } }, staging: {} }
    })
    const variables = { SYSTOLE_TOKEN: "a-token-of-the-operator" }

    it.effect("replace fields of the base as wholes", () =>
      Effect.gen(function*() {
        const config = yield* Config.decode(definition, { environment: "production", variables })
        assert.deepStrictEqual([config.host, config.port], ["0.0.0.0", 80])
        assert.deepStrictEqual([config.kernel.limits.inboxSignals, config.kernel.limits.hops], [9, 10_000])
        assert.deepStrictEqual(yield* Config.decode(definition, { environment: "staging" }), yield* Config.decode(definition))
      }))

    it.effect("are refused by an unknown name, with the names that there are", () =>
      Effect.gen(function*() {
        const refused = (definition: unknown) =>
          Effect.map(Effect.flip(Config.decode(definition, { environment: "prod" })), ({ message }) => message)
        assert.include(yield* refused(definition), "no environment \"prod\": it has production, staging")
        assert.include(yield* refused({}), "it has none")
        assert.include(yield* refusal({ environments: { production: { prot: 80 } } }), "prot")
        assert.include(yield* refusal({ environments: { production: { environments: {} } } }), "environments")
      }))
  })

  describe("tokens", () => {
    const labels = { cells: { "/data/pay/**": ["salary"] }, readers: { "web-shop": { clearance: ["salary"] } } }

    it.effect("come from the environment before the file", () =>
      Effect.gen(function*() {
        const variables = { SYSTOLE_TOKEN: "the-operators-own-token", SYSTOLE_TOKEN_WEB_SHOP: "the-token-of-a-reader" }
        const { readers, token } = yield* Config.decode({ token: "the-token-of-the-file", labels }, { variables })
        assert.strictEqual(token && Redacted.value(token), variables.SYSTOLE_TOKEN)
        assert.deepStrictEqual(readers.map(shown), [{ name: "web-shop", token: variables.SYSTOLE_TOKEN_WEB_SHOP, atoms: ["salary"] }])
      }))

    it.effect("are refused without their form, and a reader without one by the name of its variable", () =>
      Effect.gen(function*() {
        const refused = (variables: Secrets.Variables) =>
          Effect.map(Effect.flip(Config.decode({ labels }, { variables })), ({ message }) => message)
        assert.include(yield* refused({ SYSTOLE_TOKEN: "the-operators-own-token" }), "SYSTOLE_TOKEN_WEB_SHOP")
        assert.include(yield* refused({ SYSTOLE_TOKEN: "short", SYSTOLE_TOKEN_WEB_SHOP: "the-token-of-a-reader" }), "SYSTOLE_TOKEN is no")
        const same = "the-token-of-them-both"
        assert.include(yield* refused({ SYSTOLE_TOKEN: same, SYSTOLE_TOKEN_WEB_SHOP: same }), "a token of its own")
      }))

    it.effect("are not needed by settings that a build decodes", () =>
      Effect.gen(function*() {
        const settings = yield* Config.settings({ host: "0.0.0.0", labels })
        assert.deepStrictEqual(settings.readers, [{ name: "web-shop", atoms: ["salary"] }])
      }))
  })

  describe("labels", () => {
    const token = "the-operators-own-token"
    const reader = { token: "the-token-of-a-reader", clearance: ["salary"] }
    const labels = { cells: { "/data/pay/**": ["salary"] }, declassify: { average: ["salary"] }, readers: { hr: reader } }

    it.effect("are the rules of all spaces, and say who reads with which token", () =>
      Effect.gen(function*() {
        const { kernel, readers } = yield* Config.decode({ token, labels })
        assert.deepStrictEqual(kernel.labels, { cells: labels.cells, declassify: labels.declassify })
        assert.deepStrictEqual(readers.map(shown), [{ name: "hr", token: reader.token, atoms: ["salary"] }])
      }))

    it.effect("are refused where somebody would pass for another, or an atom is nobody's", () =>
      Effect.gen(function*() {
        assert.include(yield* refusal({ labels }), "token")
        assert.include(yield* refusal({ token: reader.token, labels }), "token")
        assert.include(yield* refusal({ token, labels: { ...labels, readers: { hr: reader, web: reader } } }), "token")
        assert.include(yield* refusal({ token, labels: { ...labels, readers: { hr: { ...reader, clearance: ["salray"] } } } }), "salray")
        assert.include(yield* refusal({ labels: { cells: labels.cells, declassify: { average: ["salray"] } } }), "salray")
        assert.include(yield* refusal({ labels: { cells: { "data/pay": ["salary"] } } }), "data/pay")
        assert.include(yield* refusal({ labels: { cells: { "/data/pay#/x": ["salary"] } } }), "whole cells")
        assert.include(yield* refusal({ labels: { cells: { "/data/pay": ["a salary"] } } }), "a salary")
      }))
  })

  describe("Secrets.isLoopback", () => {
    it("knows the names of this machine alone", () => {
      assert.deepStrictEqual(["127.0.0.1", "127.1.2.3", "localhost", "::1"].map(Secrets.isLoopback), [true, true, true, true])
      assert.deepStrictEqual(
        ["0.0.0.0", "::", "192.168.0.1", "localhost.evil.example"].map(Secrets.isLoopback),
        [false, false, false, false]
      )
    })
  })
})
