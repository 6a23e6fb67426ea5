import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Plugin } from "systole"
import agent from "../../plugins/agent.ts"
import file from "../../plugins/file.ts"
import timer from "../../plugins/timer.ts"
import worker from "../../plugins/worker.ts"
import * as Codec from "../../src/contract/Codec.ts"
import * as Control from "../../src/contract/Control.ts"
import type { Lazy } from "../../src/contract/Face.ts"
import * as Flows from "../../src/flow/Schemas.ts"
import * as SignalRequest from "../../src/ingress/signal/SignalRequest.ts"
import * as Config from "../../src/loader/Config.ts"
import * as Operations from "../../src/operation/Schemas.ts"
import * as Rendezvous from "../../src/rendezvous/Schemas.ts"
import { present } from "../support/Present.ts"

/** A wrong input, and the three parts of its message: the field, its value or type, and the remedy. */
type Case = readonly [input: unknown, field: string, given: string, remedy: string]

const messageOf = (check: () => unknown): string => {
  try {
    check()
  } catch (error) {
    const { message, reason } = error as { readonly message: string; readonly reason?: string }
    return message === "" ? reason ?? "" : message
  }
  return "it is accepted"
}

let compared = 0

/** Compares messages: each names the field, its value or its type, and the remedy, on one line. */
const compares = (title: string, message: (input: unknown) => string | Promise<string>, cases: ReadonlyArray<Case>) => {
  compared += cases.length
  it.each(cases)(`${title} %j`, async (input, ...parts) => {
    const text = await message(input)
    for (const part of parts) assert.include(text, part)
    assert.notInclude(text, "\n")
  })
}

const body = (schema: Lazy) => (input: unknown) => messageOf(() => Codec.decode(schema, input))

describe("The message of a wrong body names the field, its value and what to send:", () => {
  const start = "Send { verb, target, mode, ttl, payload, pipeline }"
  compares("the start of an operation", body(Operations.request), [
    [{ verb: "op/render", target: 7 }, "\"target\"", "that is 7", "instead of a string"],
    [{ target: "/data/x" }, "\"verb\"", "has no field", start],
    [{ verb: "a", target: "b", ttl: null }, "\"ttl\"", "that is null", "instead of a number or a string"],
    [{ verb: "a", target: "b", mod: "opm:direct" }, "\"mod\"", "unknown", start],
    [{ verb: null, target: "b" }, "\"verb\"", "that is null", "instead of a string"],
    [["a", "b"], "[\"a\",\"b\"]", "and no object", start],
    ["op/render", "\"op/render\"", "and no object", start]
  ])
  compares("the change of a state", body(Operations.state), [
    [{ state: { to: "ist:plan" } }, "\"state\"", "that is {\"to\":\"ist:plan\"}", "instead of a string"],
    [{ state: "ist:plan", code: "7" }, "\"code\"", "that is \"7\"", "instead of a number"]
  ])
  compares("the end of an operation", body(Operations.close), [
    [{ summary: "done" }, "\"status\"", "has no field", "Send { status, summary }"]
  ])
  compares("a rendezvous", body(Rendezvous.spec), [
    [{ key: 17 }, "\"key\"", "that is 17", "instead of a string"],
    [{ key: "job17", due: true }, "\"due\"", "that is true", "instead of a number or a string"],
    [{ key: "job17", prof: 1 }, "\"prof\"", "that is 1", "instead of a string or null"]
  ])
  compares("the move of a rendezvous", body(Rendezvous.resched), [
    [{ delta: null }, "\"delta\"", "that is null", "instead of a number or a string"],
    [{ by: 5 }, "\"by\"", "unknown field", "Send { delta }"]
  ])
  compares("the start of a flow", body(Flows.request), [
    [{ flow: 1 }, "\"flow\"", "that is 1", "instead of a string"],
    [{ flow: "review", steps: null }, "\"steps\"", "that is null", "instead of a number"],
    [{ input: 1 }, "\"flow\"", "has no field", "Send { flow, inst, input, steps, beats }"]
  ])
  compares("a rollback", body(present(Control.rollback.body)), [
    [{ to: -1 }, "\"to\"", "that is -1", "instead of a value greater than or equal to 0"],
    [{ to: 1.5 }, "\"to\"", "that is 1.5", "instead of an integer"],
    [{ to: "12" }, "\"to\"", "that is \"12\"", "instead of a number"]
  ])
  compares("a signal", (input) => messageOf(() => SignalRequest.decode(input, null)), [
    [{ signal: 5 }, "\"signal\"", "is 5", "Expected a string"],
    [{ signal: "/x", at: { seconds: 5 } }, "\"at\"", "{\"seconds\":5}", "one of { beat }, { beats } and { ms }"],
    [{ signal: "/x", qos: "best" }, "\"qos\"", "\"best\"", "control, retain or discard"],
    [{ signal: "/x", tag: 1 }, "\"tag\"", "which no signal has", "Send { signal, target, payload"]
  ])
})

describe("The message of a wrong configuration names the field, its value and what to give:", () => {
  const refused = (input: unknown) =>
    Effect.runPromise(Config.decode(input, { parts: { agent } }).pipe(
      Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "accepted" })
    ))
  compares("a project", refused, [
    [{ port: "4200" }, "port", "is \"4200\"", "give a number"],
    [{ port: 70_000 }, "port", "is 70000", "give a value between 0 and 65535"],
    [{ prot: 4200 }, "\"prot\"", "there is no field", "there are agent, enzymes"],
    [{ limits: { hops: 0 } }, "limits.hops", "is 0", "give a value between 1 and"],
    [{ limits: { hop: 5 } }, "\"limits.hop\"", "there is no field", "there are inboxSignals"],
    [{ isolation: "serial" }, "isolation", "is \"serial\"", "give \"snapshot\" or \"serializable\""],
    [{ enzymes: "enzymes" }, "enzymes", "is \"enzymes\"", "give a list"],
    [{ tempo: -5 }, "tempo", "is -5", "give milliseconds from 0 to 86400000, or a time such as \"10s\""],
    [{ spaces: { create: "always" } }, "spaces.create", "is \"always\"", "give \"on-demand\" or \"explicit\""],
    [{ channels: { web: { options: {} } } }, "channels.web.use", "is missing", "give"],
    [{ retention: { journalMillis: "soon" } }, "retention.journalMillis", "is \"soon\"", "give milliseconds from 1"],
    [{ pages: { "/x": "<p>" } }, "pages./x", "is \"<p>\"", "give a function that renders a page"],
    [{ pages: { "/x": { html: "<p>", module: "../page.ts" } } }, "pages./x", "is {", "or { html, module: \"page.ts\" }"],
    [{ agent: { timeout: "5 minutes" } }, "agent.timeout", "is \"5 minutes\"", "a whole number with ms, s, m, h or d"],
    [{ token: "short" }, "token", "is a text of 5 characters", "give"],
    [5, "it is", "5", "give an object"]
  ])
})

describe("The message of a wrong enzyme names the field, its value and what to give:", () => {
  const least = { name: "a", query: "/signals/a", run: () => {} }
  const refused = (fields: unknown) => messageOf(() => Enzyme.make({ ...least, ...fields as object }))
  compares("an enzyme with", refused, [
    [{ lane: "global" }, "lane", "is \"global\"", "give \"pair\" or \"target\" or \"space\""],
    [{ retry: { attempts: 0 } }, "retry", "attempts is 0", "give a whole number from 1 to 1000"],
    [{ bind: "/data" }, "bind", "is \"/data\"", "give a list of cells"],
    [{ durable: "yes" }, "durable", "is \"yes\"", "give true or false"],
    [{ limitMs: 0 }, "limitMs", "is 0", "give a whole number from 1 to 3600000"],
    [{ colour: "red" }, "\"colour\"", "there is no field", "an enzyme has name, label, query"],
    [{ name: "two words" }, "name", "is \"two words\"", "give 1 to 128 of the characters"],
    [{ target: "/data/orders" }, "target", "is \"/data/orders\"", "give \"required\", or leave it out"],
    [{ query: "signals" }, "query", "\"signals\"", "is not a pattern"],
    [{ payload: { width: "number" } }, "payload", "is not a Schema", "make one with Schema.Struct"]
  ])
})

describe("The message of wrong options of a channel names the field, its value and what to give:", () => {
  const refused = ({ provides: { channels = {} } }: Plugin.Plugin) => ([use, options]: readonly [string, object]) =>
    messageOf(() => present(channels[use])({ root: "/tmp", folder: "/tmp", host: "node", id: "c", options: options as never }))
  const pair = (plugin: Plugin.Plugin) => refused(plugin) as (input: unknown) => string
  compares("of files", pair(file), [
    [["file", { maxBytes: 0 }], "\"maxBytes\"", "the number 0", "a whole number from 1"],
    [["file", { root: 5 }], "\"root\"", "the number 5", "a text of at most 4096 bytes"],
    [["file", { folder: "x" }], "\"folder\"", "is unknown", "the fields are root, maxBytes, maxEntries"]
  ])
  compares("of workers", pair(worker), [
    [["worker", { threads: 2 }], "\"module\"", "is undefined", "a text of at most 4096 bytes is expected"],
    [["worker", { module: "./w.js", threads: "2" }], "\"threads\"", "a text of 1 characters", "a whole number from 1 to 256"],
    [["worker", { module: "./w.js", repeatable: 1 }], "\"repeatable\"", "the number 1", "true or false"]
  ])
  compares("of timers", pair(timer), [[["timer", { ms: 5 }], "\"ms\"", "is unknown", "the fields are"]])
})

describe("The compared messages", () => {
  it("are fifty or more", () => assert.isAtLeast(compared, 50))
})
