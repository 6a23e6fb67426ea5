import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Option, Redacted as EffectRedacted, Tracer } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { format, inspect } from "node:util"
import { MemoryStore, Redacted, webhook } from "systole"
import * as HttpChannel from "../../plugins/http/HttpChannel.ts"
import * as ObjectChannel from "../../plugins/s3/ObjectChannel.ts"
import sqlite from "../../plugins/sqlite.ts"
import * as WebhookChannel from "../../plugins/webhook-out/WebhookChannel.ts"
import * as ServerFile from "../../src/cli/ServerFile.ts"
import { Host } from "../../src/cli/Host.ts"
import * as Jwt from "../../src/contract/Jwt.ts"
import * as SessionPass from "../../src/access/SessionPass.ts"
import * as Token from "../../src/access/Token.ts"
import * as Config from "../../src/loader/Config.ts"
import * as Project from "../../src/main/composition/Project.ts"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"
import * as Slices from "../../src/main/composition/Slices.ts"
import * as WorkerToken from "../../src/ingress/access/WorkerToken.ts"
import { Reporter } from "../../src/diagnostic/Reporter.ts"
import { make as settingsOf } from "../../src/main/workers/Settings.ts"
import type { Env } from "../../src/main/workers/Platform.ts"
import { current } from "../scripts/Host.ts"
import { make } from "./TestTokens.ts"

/** A part of each secret of these tests, and of nothing else. */
const CANARY = "CANARYCANARYCANARY"
const secret = (name: string) => `${name}${CANARY}0123456789abcdef`
const WHSEC = `whsec_${CANARY}AAAAAAAAAAAAAAAAAAAAAAAA`

/** All that a host prints of a value: inspected whole, with its hidden fields and getters, as JSON, as text and in formats. */
const printed = (value: unknown): string => {
  const seen = new Set<unknown>()
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null) return typeof inner === "bigint" ? String(inner) : inner
    return seen.has(inner) ? undefined : (seen.add(inner), inner instanceof Map || inner instanceof Set ? [...inner] : inner)
  })
  const whole = inspect(value, { depth: Infinity, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null })
  return [json, whole, format("%s %o %O", value, value, value), String(value)].join("\n")
}

const shows = (name: string, value: unknown): void => assert.notInclude(printed(value), CANARY, name)

const definition = {
  token: secret("root"),
  data: ".data",
  spaces: { create: "on-demand" as const },
  labels: { cells: { "/data/pay/**": ["salary"] }, readers: { web: { token: secret("reader"), clearance: [] } } },
  ingress: {
    "/hooks/paid": webhook({ secret: [WHSEC, { env: "HOOK" }], signal: "/signals/paid" }),
    "/hooks/text": webhook({ scheme: "stripe", secret: secret("stripe"), signal: "/signals/paid" })
  }
} satisfies Config.Definition
const variables = { HOOK: `${WHSEC}BBBB`, SYSTOLE_TOKEN_WEB: secret("variable") }

describe("Redacted", () => {
  it("shows nothing of its text, however it is printed or copied, and gives it back", () => {
    const hidden = Redacted.make(secret("any"))
    shows("itself", hidden)
    shows("a copy", { ...hidden, list: [hidden], map: new Map([[hidden, hidden]]), error: new Error("x", { cause: hidden }) })
    shows("a clone", structuredClone({ hidden }))
    assert.strictEqual(`${hidden}`, "<redacted>")
    assert.strictEqual(JSON.stringify({ hidden }), "{\"hidden\":\"<redacted>\"}")
    assert.strictEqual(String(EffectRedacted.make("x")), String(hidden), "as Effect tells one")
    assert.strictEqual(Redacted.value(hidden), secret("any"))
    assert.deepStrictEqual([hidden, "text", undefined, EffectRedacted.make("x")].map(Redacted.is), [true, false, false, false])
  })
})

describe("The secrets of a configuration", () => {
  it.effect("are in no print of it, in no log line, annotation or span", () =>
    Effect.gen(function*() {
      const config = yield* Config.decode(definition, { variables })
      shows("the configuration", config)
      shows("the settings of a build", yield* Config.settings(definition))
      shows("the webhooks as they are declared", definition.ingress)
      const lines: Array<string> = []
      const spans: Array<unknown> = []
      const logger = Logger.make((told) => void lines.push(printed(told), Logger.formatLogFmt.log(told), Logger.formatJson.log(told)))
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Effect.log("started", config, config.token).pipe(
        Effect.annotateLogs({ config, token: config.token }),
        Effect.withSpan("start", { attributes: { config, token: config.token } }),
        Effect.provide(Logger.layer([logger])),
        Effect.withTracer(tracer)
      )
      assert.isAbove(lines.length, 0)
      assert.lengthOf(spans, 1)
      shows("the log", lines)
      shows("the spans", spans)
      const failed = yield* Effect.exit(Effect.die(Object.assign(new Error("failed"), { config })))
      shows("a failure", Exit.isFailure(failed) ? [failed.cause, Cause.pretty(failed.cause)] : assert.fail("it dies"))
    }))

  const wrong: Readonly<Record<string, readonly [given: unknown, variables?: Readonly<Record<string, string>>]>> = {
    "a token with a space": [{ token: `${CANARY} and more text` }],
    "a short token": [{ token: CANARY.slice(0, 15) + CANARY, labels: 1 }],
    "a token that is a list": [{ token: [secret("list")] }],
    "a reader's token with a space": [{ labels: { cells: {}, readers: { web: { token: `${CANARY} x`, clearance: [] } } } }],
    "a variable with a space": [{}, { SYSTOLE_TOKEN: `${CANARY} and more text` }],
    "a reader's variable": [definition, { ...variables, SYSTOLE_TOKEN_WEB: `${CANARY} x` }],
    "one token of two": [{ ...definition, token: secret("reader") }, { HOOK: WHSEC }],
    "a secret of another form": [{ ingress: { "/hooks/a": webhook({ secret: `${CANARY}-none`, signal: "/signals/a" }) } }],
    "a variable of another form": [definition, { HOOK: `${CANARY}-none` }],
    "a webhook of another scheme": [{ ingress: { "/hooks/a": webhook({ scheme: "none" as "stripe", secret: WHSEC, signal: "/a" }) } }],
    "a webhook without its function": [{ ingress: { "/hooks/a": { secret: WHSEC, signal: "/signals/a" } } }],
    "a key set of another form": [{ access: { jwt: { jwks: { keys: { d: CANARY } } } } }],
    "a list in place of a token": [{ token: [CANARY, `${CANARY} x`] }],
    "a private key": [{ access: { jwt: {
      issuer: "i", audience: "a", algorithms: ["ES256"], claims: () => undefined, jwks: { keys: [{ kty: "EC", d: CANARY }] }
    } } }]
  }
  for (const [name, [given, variables = {}]] of Object.entries(wrong)) {
    it.effect(`are not in the refusal of ${name}`, () =>
      Effect.map(Effect.exit(Config.decode(given, { variables })), (exit) => {
        if (Exit.isSuccess(exit)) assert.fail("it is refused")
        shows(name, [exit.cause, Cause.pretty(exit.cause), Cause.squash(exit.cause)])
      }))
  }
})

describe("The objects of a host", () => {
  it("show no secret: tokens, passes and credentials as requests show them, and their decisions", async () => {
    const tokens = make({ root: secret("root") })
    const made = await tokens.admin.create({ verbs: ["read"] }, undefined)
    const text = Redacted.value(made.token)
    const { pass } = await tokens.sessions.make("cookie", { name: `token-${made.id}`, digest: "0" }, 1000)
    const headers = (authorization: string) => new Headers({ authorization })
    const shown = {
      made, pass, sessions: tokens.sessions, set: tokens.set, admin: tokens.admin,
      bearer: SessionPass.inHeader(`Bearer ${Redacted.value(pass).replace(/^syc/, "syb")}`),
      read: SessionPass.read(pass),
      token: Token.secretIn(`Bearer ${text}`),
      jwt: Jwt.textIn(headers(`Bearer ${CANARY}.${CANARY}.${CANARY}`)),
      worker: WorkerToken.of(headers(`Rendezvous ${"ab".repeat(16)}`)),
      checked: await tokens.set.check(made.token)
    }
    assert.notInclude(Object.values(shown), undefined)
    const all = printed(shown)
    for (const part of [text.slice(13), Redacted.value(pass).slice(-64), CANARY, "ab".repeat(16)]) assert.notInclude(all, part)
  })

  it("show no secret: the settings of a Worker, with its gate and its proof", () => {
    const settings = settingsOf({ manifest: {}, config: definition }, variables as unknown as Env)
    shows("settings", settings)
    assert.notInclude(printed(settings), Redacted.value(settings.proof))
  })

  it.live("show no secret: a project, and its server.json has none but that which the process drew", () => {
    const root = mkdtempSync(join(tmpdir(), "systole-secrets-"))
    return Effect.gen(function*() {
      const config = yield* Config.decode(definition, { variables })
      const told: Array<unknown> = []
      const project = yield* Project.open(config, {
        root, slices: Slices.all, modules: ManifestModules.layer({ "systole/plugins/sqlite": { module: sqlite, hash: "" } }),
        pacemaker: HostPacemaker.layer((run) => void setImmediate(run)),
        persistence: MemoryStore.layer, isOwnProcess: false, reporter: new Reporter((failure) => void told.push(failure))
      })
      yield* ServerFile.leave(config, { url: "http://127.0.0.1:1", pid: 7, token: project.localToken }).pipe(
        Effect.provide(Layer.succeed(Host, { root, pid: 1, isAlive: () => true } as unknown as Host["Service"])),
        Effect.provide(NodeServices.layer)
      )
      const file = readFileSync(join(root, ".data", "server.json"), "utf8")
      assert.notInclude(file, CANARY)
      assert.include(file, Redacted.value(project.localToken))
      const { kernel: _, ...shown } = project
      shows("the project", shown)
      shows("what it told", told)
      assert.notInclude(printed(shown), Redacted.value(project.localToken))
    }).pipe(Effect.scoped, Effect.ensuring(Effect.sync(() => rmSync(root, { recursive: true, force: true }))))
  })

  it("show no secret: channels with keys of the host, and their refusals", () => {
    const names = { SYSTOLE_CANARY: secret("key"), SYSTOLE_CANARY_HOOK: `${WHSEC}`, SYSTOLE_CANARY_LINES: `${CANARY}\n${CANARY}` }
    Object.assign(process.env, names)
    try {
      const key = { env: "SYSTOLE_CANARY" }
      const place = { id: "out", root: ".", folder: ".", host: current() }
      const header = (value: object) => ({ headers: [{ origin: "https://a.example", name: "authorization", value }] })
      shows("http", HttpChannel.define({ ...place, options: header(key) }))
      const bucket = { endpoint: "https://s3.example", accessKeyId: key, secretAccessKey: key }
      shows("s3", ObjectChannel.define({ ...place, options: bucket }))
      shows("webhook-out", WebhookChannel.define({ ...place, options: { secrets: [{ env: "SYSTOLE_CANARY_HOOK" }] } }))
      const refused = (make: () => unknown): void => {
        const failure = Option.getOrThrow(Option.fromNullishOr(failureOf(make)))
        shows("a refusal", failure)
      }
      refused(() => HttpChannel.define({ ...place, options: header({ env: "SYSTOLE_CANARY_LINES" }) }))
      refused(() => WebhookChannel.define({ ...place, options: { secrets: [key] } }))
    } finally {
      for (const name of Object.keys(names)) delete process.env[name]
    }
  })
})

const failureOf = (make: () => unknown): unknown => {
  try {
    make()
    return undefined
  } catch (failure) {
    return failure
  }
}
