/**
 * The description of each HTTP route, by its method and path.
 *
 * `Generated.ts` puts them into the reference in the order of the routes, and fails where one is missing or has no route.
 *
 * @module
 */

import type { Face, Verb } from "../../src/contract/Face.ts"
import * as Fields from "../../src/contract/Fields.ts"
import { face as runs } from "../../src/durable/Face.ts"
import { face as flows } from "../../src/flow/Face.ts"
import { face as io } from "../../src/reactor/Face.ts"
import { face as rendezvous } from "../../src/rendezvous/Face.ts"
import { face as operations } from "../../src/operation/Face.ts"

/** The description of one route. */
export interface Described {
  /** The query, headers and body that it takes; empty for none. */
  readonly takes: string
  /** The effect, and the answer with its status. */
  readonly does: string
}

const described = (takes: string, does: string): Described => ({ takes, does })

const STREAM = "As `text/event-stream`: its state now and after each change."
const PAGE = "`?after=`, `?limit=` up to 100; 20 by default"
const LISTED = "`?after=`, `?limit=` up to 400; 400 by default"
const SPACE = "/v1/spaces/:space"

const runtime: Readonly<Record<string, Described>> = {
  "GET /livez": described("", "200 while the event loop answers. Needs no token."),
  "GET /readyz": described(
    "",
    "200 while every requested space runs and the data folder takes data, else 503: with `store/unavailable` on a full disk. " +
    "Needs no token; without one, only the number of stopped spaces is shown. With it, each stopped space, its store and the reason."
  ),
  "GET /v1/enzymes": described(LISTED, "The registered enzymes: descriptors and the digests of their modules."),
  "GET /v1/spaces": described(
    "`?after=`, `?limit=` up to 400; 400 by default",
    "The names of all spaces in order, and `next`, the cursor of the next page."
  ),
  "GET /v1/flows": described(LISTED, "The declared flows, step by step."),
  [`PUT ${SPACE}`]: described("", "Creates a space: 201 after its boot. 200 if it exists."),
  [`DELETE ${SPACE}`]: described(
    "",
    "Deletes a space with all its data: 200. Requests in progress are answered 503. Later signals find no space, unless " +
    "spaces are created on demand."
  )
}

const signals: Readonly<Record<string, Described>> = {
  [`POST ${SPACE}/signals`]: described(
    "`{ signal?, target?, payload?, id?, at?, qos?, label? }`; `Idempotency-Key`; `Prefer: wait=N`",
    "202 when the signal is durable, with the event's id and a link to its receipt. With `Prefer: wait=N`, 200 with the " +
    "receipt if all handlings end within N seconds, up to 60. `Idempotency-Key` equals `id`: a repeated request gets the " +
    "first receipt and runs nothing. `at` is `{ beat }`, `{ beats }` or `{ ms }`."
  ),
  [`GET ${SPACE}/receipts/:id`]: described(
    "`Prefer: wait=N`",
    "The receipt of an event: the outcome of each handling, or the `reason` why no enzyme ran."
  ),
  [`GET ${SPACE}/waiting`]: described(
    "`?after=`, `?limit=` up to 400; 100 by default",
    "The waiting signals, each with its reason: parked, delayed, retrying, awaiting a result, held, a lost conflict, its lane or its turn."
  )
}

const state: Readonly<Record<string, Described>> = {
  [`GET ${SPACE}/cells/*`]: described(
    "`?path=/count`, `?scope=user:42`, `?list`, `?below`, `?values`, `?after=`, `?limit=`, `?pull`, `?last=`; `Prefer: wait=N`; " +
    "`Last-Event-ID`",
    "The value of a cell. `?path` selects a place inside it, `?list` the names of its children, `?below` all cells below " +
    "it, both in pages that look at 400 cells: a page can be short before the end, which is where `next` is null. " +
    "`?pull` updates a derived cell first. `?below&values` tells the values, too, about 1 MiB on a page; readers do not have it. " +
    "As `text/event-stream`: the value now and after each change; see Streams."
  ),
  [`PUT ${SPACE}/cells/*`]: described("the value; `?path=`, `?scope=`", "Writes a cell with the next beat: `{ beat }`."),
  [`DELETE ${SPACE}/cells/*`]: described("`?path=`, `?scope=`", "Deletes a cell with the next beat: `{ beat }`."),
  [`GET ${SPACE}/beats`]: described(
    "`?before=`, `?limit=`; for the stream `?from=`, `?last=` and `Last-Event-ID`",
    "The beats, newest first. As `text/event-stream`: each beat once, without gaps, however slow the reader."
  ),
  [`GET ${SPACE}/beats/:beat`]: described("", "Inbox, agenda, stage and meta of one beat."),
  [`PUT ${SPACE}/blobs`]: described("the bytes, up to 32 MiB or the limit of the content store", "Stores content: 201 with its SHA-256."),
  [`GET ${SPACE}/blobs/:hash`]: described(
    "`Range`, `If-Range`",
    "Content by its SHA-256, or a part of it. The server reads 1 MiB at a time as its client takes it."
  ),
  [`GET ${SPACE}/dead`]: described(PAGE, "The dead letters of the space."),
  [`GET ${SPACE}/dead/:id/:enzyme`]: described("", "One dead letter, with payload and message."),
  [`POST ${SPACE}/dead/:id/:enzyme/redelivery`]: described("", "Runs the handling again, once: 202 with a link to the receipt."),
  [`GET ${SPACE}/denials`]: described("", "The newest 400 refusals of readers since the space was opened: reader and address.")
}

const control: Readonly<Record<string, Described>> = {
  [`GET ${SPACE}/control`]: described(
    "`?after=`, `?limit=` up to 400; 400 by default",
    "The state of the space: running, gated, paused or halted; parked signals; a page of its locks, and `next`."
  ),
  [`POST ${SPACE}/control/pause`]: described("", "Begins a pause: 202 with its operation."),
  [`POST ${SPACE}/control/resume`]: described("", "Begins the resumption of a paused space: 202 with its operation."),
  [`POST ${SPACE}/control/shutdown`]: described("", "Begins a shutdown: 202 with its operation."),
  [`POST ${SPACE}/control/restart`]: described("", "Begins the boot of a space that was shut down: 202 with its operation."),
  [`POST ${SPACE}/control/rollback`]: described(
    "`{ to }`",
    "Begins the restoration of all user data as of beat `to`, in a paused space: 202 with its operation."
  ),
  [`POST ${SPACE}/control/hold`]: described("", "Holds the space: no beat runs by itself until it is released or the server ends."),
  [`POST ${SPACE}/control/release`]: described("", "Releases a held space."),
  [`GET ${SPACE}/clock`]: described("", "The date of the space and that of its host, its offset, and the resets."),
  [`POST ${SPACE}/clock/reset`]: described("", "Takes the offset off the dates of later beats: `{ offset, beat }`."),
  [`PUT ${SPACE}/locks/*`]: described("", "Locks a cell and all cells below it."),
  [`DELETE ${SPACE}/locks/*`]: described("", "Unlocks a cell."),
  [`GET ${SPACE}/debug`]: described("", "Under `systole dev`: whether the space is held, and its breakpoints."),
  [`PUT ${SPACE}/debug`]: described(
    "`{ breakpoints }`",
    "Under `systole dev`: the nodes before which an attached debugger stops, at most 100."
  ),
  [`POST ${SPACE}/debug/step`]: described("", "Under `systole dev`: runs exactly one beat.")
}

/** The body of a verb, such as `{ state, code? }`, and its switches. */
const takenBy = ({ body, switches = {} }: Verb): string => {
  const fields = Fields.of(body).map(({ isOptional, name }) => isOptional ? `${name}?` : name)
  return [...fields.length === 0 ? [] : [`\`{ ${fields.join(", ")} }\``], ...Object.keys(switches).map((name) => `\`?${name}\``)].join("; ")
}

/** The effect of each switch, as sentences. */
const effectsOf = (switches: Readonly<Record<string, string>> = {}): string =>
  Object.entries(switches).map(([name, effect]) => ` \`?${name}\`: ${effect}`).join("")

/** The routes of a ledger, from its face. */
const ofFace = ({ records: { id, segment, switches = {} }, text: { many, one }, verbs }: Face): Readonly<Record<string, Described>> => ({
  [`GET ${SPACE}/${segment}`]: described(
    [PAGE, ...Object.keys(switches).map((name) => `\`?${name}\``)].join("; "),
    `The ${many} of the space.${effectsOf(switches)}`
  ),
  [`GET ${SPACE}/${segment}/:${id}`]: described("`Last-Event-ID`", `One ${one}. ${STREAM}`),
  ...Object.fromEntries(Object.entries(verbs).map(([name, verb]) => [
    verb.on === "list" ? `POST ${SPACE}/${segment}` : `POST ${SPACE}/${segment}/:${id}/${name}`,
    described(takenBy(verb), `${verb.does}${effectsOf(verb.switches)}${verb.on === "list" ? ` 201 with its \`${id}\`.` : ""}`)
  ]))
})

const requests: Readonly<Record<string, Described>> = {
  ...ofFace(io),
  [`GET ${SPACE}/io/channels`]: described("", "The channels of the runtime: provider, opcodes, hosts, clearance, and jobs for all spaces."),
  [`GET ${SPACE}/io/drains`]: described(
    "`?before=`, `?limit=` up to 100; 20 by default",
    "The beats that captured completions, newest first, each with its completions."
  )
}

const inspection: Readonly<Record<string, Described>> = {
  [`GET ${SPACE}/graph`]: described(
    "`?format=json`, `dot` or `mermaid`; `?after=`, `?limit=` up to 400; 400 by default",
    "The reactive graph, a page of nodes at a time: status, demand, gates and runs; edges; nodes that failed, never settle, are " +
    "gated or have no reader. A page looks at 400 nodes, outputs, reads and edges. Its `next`, or its header `link`, leads to the " +
    "next one; its numbers are those of the page."
  ),
  [`GET ${SPACE}/graph/trace`]: described("", "The recorded trace: the newest 150 lines of each kind."),
  [`PUT ${SPACE}/graph/trace`]: described(
    "`{ kinds }`",
    "Records from now on which nodes ran and why (`run`), the reach of changes (`invalid`) and the time of passes (`pass`)." +
    " No run changes."
  ),
  [`GET ${SPACE}/journal/verification`]: described("", "Verifies every journal row and every other row of the store."),
  [`GET ${SPACE}/replay`]: described(
    "`?from=`, `?to=`",
    "Runs beats again on their recorded input and compares, at most `limits.replayBeats` a request; `next` continues."
  ),
  [`GET ${SPACE}/why`]: described(
    "`?address=`",
    "The run that wrote a value, with its signal, its reads and the results of its requests, back to the ingress."
  ),
  [`GET ${SPACE}/explain`]: described("`?beat=`, `?enzyme=`", "Why an enzyme ran in a beat, or did not.")
}

/** The groups of the reference, in order. */
export const groups: ReadonlyArray<readonly [title: string, routes: Readonly<Record<string, Described>>]> = [
  ["The runtime", runtime],
  ["Signals", signals],
  ["State", state],
  ["A space as a whole", control],
  ["Operations", ofFace(operations)],
  ["Rendezvous", ofFace(rendezvous)],
  ["Flows", ofFace(flows)],
  ["Requests to the world", requests],
  ["Durable runs", ofFace(runs)],
  ["Inspection", inspection]
]
