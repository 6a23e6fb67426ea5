/**
 * Fuzzers: random requests, sent until the time is over.
 *
 * @module
 */
import * as Dice from "../support/Dice.ts"
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

const value = (roll: Dice.Dice, depth = 0): unknown => {
  const kind = roll(depth > 4 ? 1 : 4)
  if (kind === 1) return Array.from({ length: roll(5) }, () => value(roll, depth + 1))
  if (kind === 2) return Object.fromEntries(Array.from({ length: roll(5) }, () => [Dice.pick(roll, keys), value(roll, depth + 1)]))
  return Dice.pick(roll, leaves)
}

/** A text with a few characters replaced, removed or repeated. */
const mutated = (roll: Dice.Dice, text: string): string => {
  let result = text
  for (let i = roll(4); i > 0 && result.length > 0; i--) {
    const at = roll(result.length)
    const change = [String.fromCharCode(roll(128)), "", result.slice(at, at + roll(20)).repeat(2), "]", "{", "\""][roll(6)]!
    result = result.slice(0, at) + change + result.slice(at + 1)
  }
  return result
}

const annotations = (roll: Dice.Dice, depth = 0): unknown => {
  const path = () =>
    Array.from({ length: 1 + roll(3) }, () => Dice.pick(roll, ["0", "1", "a", "json", "a\\.b", "\\", "length", "__proto__", ""])).join(".")
  const inner = () => Object.fromEntries(Array.from({ length: roll(4) }, () => [path(), annotations(roll, depth + 1)]))
  if (depth < 4 && roll(3) === 0) return inner()
  return depth < 4 && roll(2) === 0 ? [Dice.pick(roll, types), inner()] : [Dice.pick(roll, types)]
}

const path = (roll: Dice.Dice): string => {
  const known = [
    "/v1/spaces/shop/cells/data/x", "/v1/spaces/shop/signals", "/v1/spaces/shop/ops", "/v1/spaces/shop/rv", "/v1/spaces/shop/flows",
    "/v1/spaces/shop/blobs", "/v1/spaces/shop/graph", "/v1/spaces/fuzz"
  ]
  return (roll(2) === 0 ? Dice.pick(roll, known) : `/${Array.from({ length: 1 + roll(6) }, () => Dice.pick(roll, words)).join("/")}`) +
    Dice.pick(roll, queries)
}

const request = (roll: Dice.Dice): readonly [string, Sent] => {
  const method = Dice.pick(roll, methods)
  const body = method === "GET" || method === "HEAD" || method === "TRACE" ? {} : { body: mutated(roll, JSON.stringify(value(roll))) }
  return [
    path(roll).replaceAll(/[^\u0021-\u00ff]/g, "_"),
    { method, headers: { "content-type": "application/json", ...Dice.pick(roll, headers) }, ...body }
  ]
}

const rich = (roll: Dice.Dice): readonly [string, Sent] => {
  const equalities = () => roll(9) === 0 ? { referentialEqualities: value(roll) } : {}
  const json = value(roll)
  const meta = { values: annotations(roll), v: roll(9) === 0 ? roll(3) : 1, ...equalities() }
  const text = JSON.stringify({ $rich: { json, meta } })
  return [
    `/v1/spaces/rich/cells/data/${roll(9)}`,
    { method: "PUT", headers: { "content-type": "application/vnd.systole.rich+json" }, body: roll(3) === 0 ? mutated(roll, text) : text }
  ]
}

/** Sends random requests until the time is over. Each response must be an intended one. */
const fuzzed = (draw: (roll: Dice.Dice) => readonly [string, Sent]): Attack["run"] => async ({ guarded, open, roll }, until) => {
  let tried = 0
  while (!until()) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      const [path, sent] = draw(roll)
      const { ask } = roll(2) === 0 ? guarded : open
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
