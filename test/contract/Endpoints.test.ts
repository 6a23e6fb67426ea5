import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as CellEndpoints from "../../src/contract/Cells.ts"
import * as Codec from "../../src/contract/Codec.ts"
import { isOf, LIVE, READY, REPORT, spaceIn } from "../../src/contract/Paths.ts"
import * as Signals from "../../src/contract/Signals.ts"
import * as SignalRequest from "../../src/ingress/signal/SignalRequest.ts"
import * as CellValue from "../../src/contract/CellValue.ts"
import * as Wire from "../../src/ingress/wire/Wire.ts"
import * as WorkerToken from "../../src/ingress/access/WorkerToken.ts"
import { endpoints } from "../docs/Generated.ts"

const named = (isNamed: (endpoint: ReturnType<typeof endpoints>[number]) => boolean): ReadonlyArray<string> =>
  endpoints().filter(isNamed).map(({ method, path }) => `${method} ${path.replace("/v1/spaces/:space/", "…/")}`)

/** Whether a function takes an input. */
const takes = (decode: () => unknown): boolean => {
  try {
    decode()
    return true
  } catch {
    return false
  }
}

const fits = (schema: Schema.Top, input: unknown): boolean =>
  Schema.decodeUnknownExit(schema as Schema.Codec<unknown>, { onExcessProperty: "error" })(input)._tag === "Success"

describe("The endpoints", () => {
  it("are each there once", () => {
    const all = named(() => true)
    assert.strictEqual(new Set(all).size, all.length)
  })

  it("are open without a token for probes alone, and with that of a record for its report alone", () => {
    assert.deepStrictEqual(named(({ access }) => access === "anyone"), [`GET ${LIVE}`, `GET ${READY}`])
    assert.deepStrictEqual(endpoints().filter(({ access }) => access === "worker").map(({ path }) => path), [REPORT])
    const request = new Request("http://localhost", { method: "POST", headers: { authorization: "Rendezvous 0f" } })
    assert.deepStrictEqual(
      endpoints().filter(({ path }) => WorkerToken.isReport(request, path.replaceAll(/:\w+/g, "a"))).map(({ path }) => path),
      [REPORT]
    )
  })

  it("are for readers, too, if they show or take what a clearance admits", () => {
    assert.deepStrictEqual(named(({ access }) => access === "reader").toSorted(), [
      "GET …/blobs/:hash", "GET …/cells/*", "GET …/receipts/:id", "GET …/schema", "GET …/waiting", "POST …/signals"
    ])
  })

  it("are taken by a full host, if they read, or end or control accepted work", () => {
    assert.deepStrictEqual(named(({ effect, method }) => effect === "controls" && method === "POST").toSorted(), [
      "POST /v1/session",
      ...["hold", "pause", "release", "restart", "resume", "rollback", "shutdown"].map((verb) => `POST …/control/${verb}`),
      ...["cancel", "pause", "resume"].map((verb) => `POST …/flows/:inst/${verb}`),
      "POST …/io/:rid/cancel",
      "POST …/ops/:oid/cancel",
      "POST …/runs/:oid/cancel",
      ...["kill", "release", "report"].map((verb) => `POST …/rv/:key/${verb}`),
      ...["finish", "upgrade"].map((verb) => `POST …/store/${verb}`)
    ])
    assert.deepStrictEqual(named(({ effect, method }) => method === "GET" && effect !== "reads"), [])
  })

  it("have paths with one segment for a parameter, and with any rest", () => {
    const rest = (path: string): boolean => isOf("/v1/spaces/:space/cells/*", path)
    assert.deepStrictEqual(
      ["/v1/spaces/shop/rv/a/report", "/v1/spaces/shop/rv/a/b/report", "/v1/spaces//rv/a/report", "/v1/spaces/shop/rv/a/report/"]
        .map((path) => isOf(REPORT, path)),
      [true, false, false, false]
    )
    assert.deepStrictEqual(["a", "a/b/", "", "/b"].map((end) => rest(`/v1/spaces/shop/cells/${end}`)), [true, true, false, true])
    assert.isFalse(rest("/v1/spaces/shop/cells"))
  })

  it("are of one space by their first segments", () => {
    assert.deepStrictEqual(
      ["/v1/spaces/shop", "/v1/spaces/shop/", "/v1/spaces/a%2Fb/ops", "/v1/spaces/", "/v1/spaces", "/v1/flows/shop"].map(spaceIn),
      ["shop", "shop", "a%2Fb", undefined, undefined, undefined]
    )
  })
})

/** A part of an input: mostly one that fits, sometimes any other. */
const mostly = <A>(fitting: Schema.Codec<A>) => Schema.Union([fitting, fitting, Schema.Json])

const at = Schema.Union([
  Schema.Struct({ beat: mostly(Schema.Number) }),
  Schema.Struct({ ms: Schema.Int }),
  Schema.Struct({ beats: Schema.Int, beat: Schema.optionalKey(Schema.Int) })
])

const Posted = Schema.Struct({
  signal: Schema.optionalKey(mostly(Schema.String)),
  target: Schema.optionalKey(mostly(Schema.String)),
  payload: Schema.optionalKey(Schema.Json),
  id: Schema.optionalKey(mostly(Schema.String)),
  at: Schema.optionalKey(mostly(at as Schema.Codec<unknown>)),
  qos: Schema.optionalKey(mostly(Schema.Literals(["control", "retain", "discard"]))),
  label: Schema.optionalKey(mostly(Schema.Array(Schema.String))),
  more: Schema.optionalKey(Schema.Never)
})

/** The schema of a written value. */
const written = CellEndpoints.write.body?.() ?? Schema.Never

describe("What is decoded by hand", () => {
  it.prop("takes the signals that their schema takes", [Schema.Union([Posted, Posted, Schema.Json])], ([body]) => {
    assert.strictEqual(takes(() => SignalRequest.decode(body, null)), takes(() => Codec.decode(Signals.signal, body)))
  })

  it.each([null, [], "text", { signal: 1 }, { at: { beat: -1 } }, { at: { beat: 1, ms: 1 } }, { at: {} }, { id: "" }, { more: 1 }, {}])(
    "takes the signal %j if its schema does",
    (body) => assert.strictEqual(takes(() => SignalRequest.decode(body, null)), takes(() => Codec.decode(Signals.signal, body)))
  )

  it.prop("takes the values that their schema takes", [Schema.Json], ([value]) => {
    assert.strictEqual(fits(written, value), takes(() => Wire.value(value, "application/json")))
  })

  const rich = { $rich: { json: "2026-01-01T00:00:00.000Z", meta: { values: ["Date"], v: 1 } } }
  it.each([rich, { $rich: 5 }, { $rich: { json: 1 } }, { ...rich, more: 1 }])("takes the rich form %j if its schema does", (value) => {
    assert.strictEqual(fits(written, value), takes(() => Wire.value(value, CellValue.RICH)))
  })
})
