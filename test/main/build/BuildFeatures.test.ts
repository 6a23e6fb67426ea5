import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { names } from "../../../src/kernel/model/Feature.ts"
import * as BuildFeatures from "../../../src/main/build/BuildFeatures.ts"

interface Given extends Partial<Omit<BuildFeatures.Uses, "settings">> {
  readonly settings?: Partial<BuildFeatures.Uses["settings"]>
}

const plain = { agent: undefined, channels: {}, content: undefined, features: [], kernel: { labels: undefined }, readers: [] }

const found = ({ code = "", enzymes = [], settings = {} }: Given) =>
  BuildFeatures.find({ code, enzymes, settings: { ...plain, ...settings } })

describe("The features of a build", () => {
  it("are none for a project with cells, signals, derived cells and operations", () => {
    const code = "run: (tx) => { tx.set('/data/ratio', tx.op.start({ verb: 'a' })); tx.increment('/data/served') }"
    assert.deepStrictEqual(found({ code }), [])
  })

  it("follow from the code of its modules, each with the features that it needs", () => {
    assert.deepStrictEqual(found({ code: "tx.rv.spawn({})" }), ["rendezvous"])
    assert.deepStrictEqual(found({ code: "({ io }) => io.request()" }), ["requests"])
    assert.deepStrictEqual(found({ code: "Flow.make({})" }), ["rendezvous", "flows"])
    assert.deepStrictEqual(found({ code: "tx[\"flow\"].start()" }), ["rendezvous", "flows"])
    assert.deepStrictEqual(found({ code: "import { Struct } from \"systole-import:effect/Schema\"" }), ["schema"])
    assert.deepStrictEqual(found({ code: "durable: true" }), ["requests", "durable"])
  })

  it("follow from its loaded enzymes, its channels, its content store and its agent", () => {
    assert.deepStrictEqual(found({ enzymes: [{ durable: true, payload: undefined }] }), ["requests", "durable"])
    assert.deepStrictEqual(found({ enzymes: [{ durable: false, payload: Schema.String }] }), ["schema"])
    assert.deepStrictEqual(found({ settings: { channels: { clock: { use: "timer", options: {} } } } }), ["requests"])
    assert.deepStrictEqual(found({ settings: { agent: {} } }), ["requests"])
    assert.deepStrictEqual(found({ settings: { content: { use: "bucket", options: {} } } }), ["content"])
    assert.deepStrictEqual(found({ settings: { kernel: { labels: { cells: {}, declassify: {} } } } }), ["labels"])
    assert.deepStrictEqual(found({ settings: { readers: [{ name: "ann", atoms: [], token: "a-token-of-ann" }] } }), ["labels"])
  })

  it("are those that the configuration states as well, in the order of the catalogue", () => {
    assert.deepStrictEqual(found({ settings: { features: ["graph", "history"] }, code: "tx.io" }), ["requests", "history", "graph"])
    assert.deepStrictEqual(found({ settings: { features: names } }), [...names])
  })
})
