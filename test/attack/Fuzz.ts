/**
 * Fuzzers: random requests, sent until the time is over.
 *
 * @module
 */
import * as Random from "../support/Random.ts"
import type { Attack } from "./Attack.ts"
import { codeOf, hold, type Sent, tokens } from "./Targets.ts"

/** The number of concurrent requests. */
const AT_ONCE = 16

const methods = ["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "QUERY"]
const words = [
  "v1", "spaces", "shop", "cells", "data", "beats", "signals", "receipts", "rv", "ops", "flows", "graph", "trace", "blobs", "dead",
  "journal", "verification", "replay", "why", "explain", "locks", "waiting", "denials", "enzymes", "livez", "readyz", "sys", "rt", "x", "0",
  "-1", "1e9", "%2f", "%00", "..", ".", "%2e%2e", "%ff", "*", "**", ":name", "__proto__", "constructor", "$rich", "a".repeat(300),
  "%F0%9F%92%A9", "#", "?"
]
const queries = [
  "", "", "", "?list", "?below", "?pull", "?path=/a/b", "?scope=user:1", "?limit=1", "?limit=-1", "?after=%00", "?from=0&to=9",
  "?beat=0&enzyme=x", "?address=/data/x", "?x[y]=1", "?".repeat(50), `?path=/${"a/".repeat(500)}`
]
const headers: ReadonlyArray<Readonly<Record<string, string | ReadonlyArray<string>>>> = [
  {},
  {},
  {},
  { prefer: "wait=0" },
  { prefer: "wait=99999999999" },
  { "idempotency-key": "\"a\"" },
  { "idempotency-key": ["a", "b"] },
  { range: "bytes=0-" },
  { range: "bytes=-1,2-3" },
  { "if-none-match": "*" },
  { accept: "text/event-stream" },
  { "last-event-id": "-1" },
  { "last-event-id": "x" },
  { "content-type": "text/plain" },
  { "content-type": "application/vnd.systole.rich+json" },
  { "content-encoding": "gzip" },
  { expect: "100-continue" },
  { authorization: "Bearer wrong" },
  { authorization: `Bearer ${tokens.web}` },
  { authorization: "Rendezvous 00" },
  { cookie: "a=".repeat(1000) },
  { "x-forwarded-host": "evil.example" }
]
const leaves = [
  null, true, 0, -1, 1e308, 1e-7, "", "a", "/data/x", "/signals/x", "/CEP:sig_sys/init", "\u0000", "\ud800", "$rich", "__proto__", "sts:ok",
  "opm:direct", "x".repeat(5000)
]
const keys = [
  "signal", "target", "payload", "id", "at", "qos", "label", "verb", "mode", "ttl", "key", "delta", "telemetry", "flow", "inst", "input",
  "steps", "state", "want", "to", "kinds", "__proto__", "constructor", "$rich", "json", "meta", "values", "v"
]
const types = [
  "undefined", "bigint", "Date", "set", "map", "URL", "number", "regexp", "Error", "symbol", ["typed-array", "Uint8Array"],
  ["typed-array", "Float64Array"], ["class", "X"], ["custom", "x"], 1, null
]

const value = (draw: Random.Random, depth = 0): unknown => {
  const kind = draw(depth > 4 ? 1 : 4)
  if (kind === 1) return Array.from({ length: draw(5) }, () => value(draw, depth + 1))
  if (kind === 2) return Object.fromEntries(Array.from({ length: draw(5) }, () => [Random.pick(draw, keys), value(draw, depth + 1)]))
  return Random.pick(draw, leaves)
}

/** A text with a few characters replaced, removed or repeated. */
const mutated = (draw: Random.Random, text: string): string => {
  let result = text
  for (let i = draw(4); i > 0 && result.length > 0; i--) {
    const at = draw(result.length)
    const change = [String.fromCharCode(draw(128)), "", result.slice(at, at + draw(20)).repeat(2), "]", "{", "\""][draw(6)]!
    result = result.slice(0, at) + change + result.slice(at + 1)
  }
  return result
}

/** Path segments of rich types, with those that need an escape. */
const segments = ["0", "1", "a", "json", "a\\.b", "\\", "length", "__proto__", ""]

const annotations = (draw: Random.Random, depth = 0): unknown => {
  const path = () => Array.from({ length: 1 + draw(3) }, () => Random.pick(draw, segments)).join(".")
  const inner = () => Object.fromEntries(Array.from({ length: draw(4) }, () => [path(), annotations(draw, depth + 1)]))
  if (depth < 4 && draw(3) === 0) return inner()
  return depth < 4 && draw(2) === 0 ? [Random.pick(draw, types), inner()] : [Random.pick(draw, types)]
}

const path = (draw: Random.Random): string => {
  const known = [
    "/v1/spaces/shop/cells/data/x", "/v1/spaces/shop/signals", "/v1/spaces/shop/ops", "/v1/spaces/shop/rv", "/v1/spaces/shop/flows",
    "/v1/spaces/shop/blobs", "/v1/spaces/shop/graph", "/v1/spaces/fuzz"
  ]
  return (draw(2) === 0 ? Random.pick(draw, known) : `/${Array.from({ length: 1 + draw(6) }, () => Random.pick(draw, words)).join("/")}`) +
    Random.pick(draw, queries)
}

const request = (draw: Random.Random): readonly [string, Sent] => {
  const method = Random.pick(draw, methods)
  const body = method === "GET" || method === "HEAD" || method === "TRACE" ? {} : { body: mutated(draw, JSON.stringify(value(draw))) }
  return [
    path(draw).replaceAll(/[^\u0021-\u00ff]/g, "_"),
    { method, headers: { "content-type": "application/json", ...Random.pick(draw, headers) }, ...body }
  ]
}

const rich = (draw: Random.Random): readonly [string, Sent] => {
  const equalities = () => draw(9) === 0 ? { referentialEqualities: value(draw) } : {}
  const json = value(draw)
  const meta = { values: annotations(draw), v: draw(9) === 0 ? draw(3) : 1, ...equalities() }
  const text = JSON.stringify({ $rich: { json, meta } })
  return [
    `/v1/spaces/rich/cells/data/${draw(9)}`,
    { method: "PUT", headers: { "content-type": "application/vnd.systole.rich+json" }, body: draw(3) === 0 ? mutated(draw, text) : text }
  ]
}

/** Sends random requests until the time is over. Each response must be an intended one. */
const fuzzed = (requestOf: (draw: Random.Random) => readonly [string, Sent]): Attack["run"] => async ({ guarded, open, draw }, until) => {
  let tried = 0
  while (!until()) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      const [path, sent] = requestOf(draw)
      const { ask } = draw(2) === 0 ? guarded : open
      tried++
      const head = `${sent.method} ${path.slice(0, 200)}`
      const answer = await ask(path, sent).catch((error: unknown) => Promise.reject(new Error(`${head}: ${String(error)}`)))
      const shown = `${head} ${String(sent.body ?? "").slice(0, 300)} is answered ${answer.status} ${answer.text.slice(0, 200)}`
      hold(answer.status < 500 || (answer.status === 503 && codeOf(answer) !== ""), shown)
      hold(answer.status < 400 || sent.method === "HEAD" || answer.text === "" || codeOf(answer) !== "" || answer.status === 400, shown)
      hold(!/\n {4}at /.test(answer.text), `${shown} with a stack`)
    }))
  }
  return tried
}

export const all: ReadonlyArray<Attack> = [
  { name: "fuzzed requests", holds: "each response is an intended one, none with 500 or a stack", run: fuzzed(request) },
  { name: "fuzzed rich types", holds: "each is refused or kept as it is", run: fuzzed(rich) }
]
