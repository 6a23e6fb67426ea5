import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { defineConfig } from "systole"
import * as Config from "../../src/loader/Config.ts"

const refusal = (definition: unknown) => Effect.map(Effect.flip(Config.decode(definition)), (error) => error.message)

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

    it.effect("refuses an address that others reach unless there is a token", () =>
      Effect.gen(function*() {
        assert.include(yield* refusal({ host: "0.0.0.0" }), "0.0.0.0")
        const config = yield* Config.decode({ host: "0.0.0.0", token: "a-token-of-some-length" })
        assert.strictEqual(config.host, "0.0.0.0")
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
        assert.deepStrictEqual(readers, [{ name: "hr", token: reader.token, atoms: ["salary"] }])
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

  describe("isLoopback", () => {
    it("knows the names of this machine alone", () => {
      assert.deepStrictEqual(["127.0.0.1", "127.1.2.3", "localhost", "::1"].map(Config.isLoopback), [true, true, true, true])
      assert.deepStrictEqual(
        ["0.0.0.0", "::", "192.168.0.1", "localhost.evil.example"].map(Config.isLoopback),
        [false, false, false, false]
      )
    })
  })
})
