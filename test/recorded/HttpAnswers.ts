/**
 * The answers to the script of HTTP requests: all that a client can rely on, so without the prose of `detail` and `reason`.
 *
 * They lie beside this file, a line for each request: `answers.jsonl`. `npm run record -- answers` makes them anew.
 *
 * @module
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { TestReactor } from "systole/testing"
import { Sessions } from "../../src/access/Sessions.ts"
import { TokenAdmin } from "../../src/access/TokenAdmin.ts"
import { TokenSet } from "../../src/access/TokenSet.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import type { HostClocks } from "../../src/main/host/HostPacemaker.ts"
import { serve, type TestIngress } from "../ingress/TestIngress.ts"
import { channels, enzymes, nodes } from "./HttpModules.ts"
import type { Line } from "./HttpRequest.ts"
import { script } from "./HttpScript.ts"

const file = fileURLToPath(new URL("answers.jsonl", import.meta.url))

/** The fields of an answer that are prose. */
const PROSE = new Set(["detail", "reason"])

/** The names of kept fields with their values. */
type Kept = Map<string, string>

const filled = (text: string, kept: Kept): string => text.replaceAll(/<(\w+)>/g, (found, name: string) => kept.get(name) ?? found)

const fieldOf = (body: unknown, path: string): string =>
  String(path.split(".").reduce((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], body))

/** The frames of a stream up to its `count`-th with data. */
const framesOf = async (response: Response, count: number): Promise<string> => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  while (text.split("\ndata: ").length <= count) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The stream ended before its frame ${count}: ${text}`)
    text += value
  }
  await reader.cancel()
  return text
}

const json = (text: string): unknown => JSON.parse(text, (name, value: unknown) => PROSE.has(name) ? undefined : value)

/** Fields that are drawn by chance or follow from such a field: the secrets of workers, and the digests of a new journal. */
const DRAWN = /(\\?"(?:token|token_id|hash|prev)\\?":\\?")[0-9a-f]+/g

/** The answer to one line, as text. */
const answered = async ({ fetch }: TestIngress, line: Line, kept: Kept): Promise<string> => {
  const headers = Object.fromEntries(Object.entries(line.headers).map(([name, value]) => [name, filled(value, kept)]))
  const response = await fetch(filled(line.path, kept), {
    method: line.method,
    headers,
    ...line.body === undefined ? {} : { body: filled(line.body, kept) }
  })
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  const text = isStream ? await framesOf(response, line.frames) : await response.text()
  const isJson = response.headers.get("content-type")?.includes("json") === true && text !== ""
  const body = isJson ? json(text) : text
  for (const [name, path] of Object.entries(line.keeps)) kept.set(name, fieldOf(body, path))
  const request = [line.method, line.path, line.body ?? "", line.headers]
  const shown = JSON.stringify({ request, status: response.status, headers: [...response.headers].sort(), body })
  return shown.replaceAll(DRAWN, "$1…")
}

/** The clocks of a host at which time passes by short waits alone, so that no delay of the script ends. */
const clocks = (): HostClocks => {
  let now = 1_700_000_000_000
  return {
    now: () => now,
    elapsed: () => now,
    after: (millis, run) => {
      if (millis > SHORT) return () => {}
      const turn = setImmediate(() => {
        now += millis
        run()
      })
      return () => clearImmediate(turn)
    }
  }
}

/** The longest wait that passes, in milliseconds. */
const SHORT = 100

/** The tokens of a host whose secrets are all alike. */
const tokens = () => {
  const hash = { hex: (text: string) => createHash("sha256").update(text).digest("hex") }
  const set = new TokenSet({ store: HostAccess.inMemory(), hash, now: () => 1_700_000_000_000 })
  const draw = (bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => i)
  return { set, admin: new TokenAdmin({ set, draw }), sessions: new Sessions({ set, draw, root: undefined }) }
}

/** Sends the script to a fresh server, one request at a time: the space is idle before each. */
export const look: Effect.Effect<ReadonlyArray<string>, unknown> = Effect.scoped(Effect.gen(function*() {
  const app = yield* serve({
    enzymes,
    nodes,
    reactor: new TestReactor(channels).layer,
    clocks: clocks(),
    debug: true,
    tokens: tokens(),
    config: { spaces: { create: "explicit" }, system: ["rv_init"] }
  })
  return yield* Effect.promise(async () => {
    const kept: Kept = new Map()
    const answers: Array<string> = []
    for (const line of script) {
      const space = app.kernel.opened("shop")
      if (space !== undefined) await Effect.runPromise(space.idle)
      answers.push(await answered(app, line, kept))
    }
    return answers
  })
}))

/** The answers that were recorded. */
export const recorded = (): ReadonlyArray<string> => readFileSync(file, "utf8").trimEnd().split("\n")

/** Keeps the answers of today. */
export const record = async (): Promise<void> => writeFileSync(file, `${(await Effect.runPromise(look)).join("\n")}\n`)
