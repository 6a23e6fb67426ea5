/**
 * `systole journal verify`, `replay`, `why` and `explain`: commands over the history of a space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Printable from "../../diagnostic/Printable.ts"
import type { Explanations } from "../../replay/Explain.ts"
import type { ReplayResult } from "../../replay/Replay.ts"
import type { RequestLink } from "../../replay/SignalChain.ts"
import type { Verification } from "../../replay/Verify.ts"
import type { Reason } from "../../replay/Why.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client, foreign } from "../Client.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** The most seconds of a look at the history, which may be long. */
const SECONDS = 3600

const ask = <Answer>(space: string, path: string) =>
  Client.use((client) => client.ask<Answer>(`${SpaceArgument.path(space)}/${path}`, { seconds: SECONDS }))

const held = (entries: number): string => `${Printable.count(entries, "entry", "entries")} ${entries === 1 ? "holds" : "hold"}`

const verify = Command.make("verify", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
  Effect.gen(function*() {
    const found = yield* ask<Verification>(space, "journal/verification")
    const { entries, fault, first, last } = found
    if (typeof entries !== "number") return yield* foreign("without \"entries\"")
    yield* Output.data(
      json,
      found,
      fault === undefined || fault === null
        ? `${held(entries)}${entries === 0 ? "" : `, from beat ${first} to ${last}`}`
        : fault.code === "journal/version"
        ? `${held(entries)}, and the one of beat ${fault.beat} cannot be read`
        : `${fault.beat === undefined ? "the store" : `beat ${fault.beat}`} was changed: ${fault.reason}`
    )
    if (fault?.code === "journal/version") return yield* new CliFailure({ exit: exits.impossible, code: fault.code, message: fault.reason })
    if (fault) {
      const where = fault.beat === undefined ? "The store" : "The journal"
      const from = fault.beat === undefined ? "" : `, from beat ${fault.beat} on`
      return yield* new CliFailure({
        exit: exits.differs,
        code: fault.code,
        message: `${where} of space "${space}" is not what was written${from}. Put a copy back in its place`
      })
    }
  })).pipe(Command.withDescription(
    "Check every entry of the journal against its digest and the one before, and each other row against its checksum"
  ))

/**
 * The command `journal`.
 */
export const journal = Command.make("journal").pipe(
  Command.withDescription("Look at the journal"),
  Command.withSubcommands([verify]),
  Command.provide(Client.layer)
)

/** Replays a range in parts, as large as the server allows, until the end or the first failure. */
export const replayInParts = Effect.fnUntraced(function*(
  space: string,
  { last, ...range }: Range
) {
  const query = (range: Range): string =>
    Object.entries(range).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${value}`]).join("&")
  let all = yield* ask<ReplayJson>(space, `replay?${query({ ...range, last })}`)
  const to = last === undefined ? range.to : all.to
  let before = -1
  while (typeof all.next === "number") {
    const from = all.next
    if (from <= before) return yield* foreign(`with part ${from} of a replay, which was there,`)
    const part: ReplayJson = yield* ask<ReplayJson>(space, `replay?${query({ from, to })}`)
    all = { ...part, from: all.from, beats: all.beats + part.beats, changed: [...new Set([...all.changed, ...part.changed])] }
    before = from
  }
  return all
})

/** The beats of a replay: from one to another, or the last ones. */
interface Range {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly last?: number | undefined
}

/** A replay as JSON. */
type ReplayJson = Omit<ReplayResult, "next"> & { readonly next?: number | null }

const bound = (name: string, description: string) => Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

/**
 * The command `replay`.
 */
export const replay = Command.make("replay", {
  space: SpaceArgument.name,
  from: bound("from", "The first beat to run again; the first there is unless given"),
  to: bound("to", "The last; the newest unless given"),
  last: bound("last", "The number of the newest beats to run again, in place of both"),
  json: Output.json
}, ({ from, json, last, space, to }) =>
  Effect.gen(function*() {
    const range = { from: Option.getOrUndefined(from), to: Option.getOrUndefined(to), last: Option.getOrUndefined(last) }
    yield* told(yield* replayInParts(space, range), { json, of: `space "${space}"` })
  })).pipe(Command.withDescription("Run beats again on their recorded input, and compare"), Command.provide(Client.layer))

/** Tells the result of a replay. Fails unless all beats came out the same. */
export const told = (found: ReplayJson, { json, of }: { readonly json: boolean; readonly of: string }) =>
  Effect.gen(function*() {
    const { beats, changed, difference, impossible } = found
    if (changed.length > 0) yield* Output.note(`not the code that ran then: ${changed.join(", ")}`)
    if (impossible) {
      const done = Printable.count(beats, "beat was", "beats were")
      yield* Output.data(json, found, `${done} run again; beat ${impossible.beat} cannot be: ${impossible.reason}`)
      return yield* new CliFailure({
        exit: exits.impossible,
        code: impossible.code,
        message: `Beat ${impossible.beat} of ${of} cannot be run again: ${impossible.reason}`
      })
    }
    if (!difference) return yield* Output.data(json, found, `${Printable.count(beats, "beat")} came out the same`)
    const who = difference.enzyme === undefined ? "" : ` of enzyme "${difference.enzyme}"`
    const where = difference.address === undefined ? "" : ` at ${difference.address}`
    yield* Output.data(json, found, [
      `beat ${difference.beat}: ${difference.what}${where}${who} differs`,
      `  recorded  ${difference.recorded}`,
      `  replayed  ${difference.replayed}`
    ])
    return yield* new CliFailure({
      exit: exits.differs,
      code: "replay/differs",
      message: `Beat ${difference.beat} of ${of} does not come out the same. See to what its enzymes use beside their transaction`
    })
  })

/**
 * The command `why`.
 */
export const why = Command.make("why", {
  space: SpaceArgument.name,
  address: Argument.String("address").pipe(Argument.withDescription("A cell, or a place inside one: /data/orders/17#/count")),
  json: Output.json
}, ({ address, json, space }) =>
  ask<Reason>(space, `why?address=${encodeURIComponent(address)}`).pipe(
    Effect.flatMap((reason) => Output.data(json, reason, describe(reason)))
  )).pipe(Command.withDescription("Tell which run wrote a value, on which signal, after which reads"), Command.provide(Client.layer))

const describe = ({ address, beat, before, value, writers }: Reason): ReadonlyArray<string> => [
  `${address} is ${shown(value)} since beat ${beat}; before it was ${shown(before)}`,
  ...writers.flatMap(({ by, chain, reads, results = [] }) => [
    `written by ${by}`,
    ...reads.map(({ address, value }) => `  read ${address}: ${shown(value)}`),
    ...results.map(taken),
    ...chain.map(({ beat, id, own, request, sentBy, signal, target }) =>
      `  on ${Printable.event(id, own)} ${signal ?? ""}${target === undefined ? "" : ` → ${target}`} in beat ${beat}, ` +
      `${sentBy === undefined ? "from outside" : `sent by ${sentBy}`}` +
      `${request === undefined ? "" : `, the result of ${askedFor(request)}`}`)
  ])
]

const taken = (result: NonNullable<Reason["writers"][number]["results"]>[number]): string => {
  if (result.kind === "request") return `  took the result of ${askedFor(result.request)}`
  if (result.kind === "event") return `  took the end of ${result.id}: ${result.status}`
  return `  heard ${result.id} ${result.signal} → ${result.target}`
}

/** A request, its end, and the run that asked for it. */
const askedFor = ({ beat, channel, code, enzyme, opcode, rid, state }: RequestLink): string =>
  `request ${rid} (${channel} ${opcode}: ${state}${code === undefined ? "" : ` ${code}`}), asked for in beat ${beat}` +
  (enzyme === undefined ? "" : ` by ${enzyme}`)

const shown = (value: unknown): string => value === undefined ? "absent" : JSON.stringify(value)

/**
 * The command `explain`.
 */
export const explain = Command.make("explain", {
  space: SpaceArgument.name,
  beat: Argument.Int("beat").pipe(Argument.withDescription("The number of a beat")),
  enzyme: Argument.String("enzyme").pipe(Argument.withDescription("The name of an enzyme")),
  json: Output.json
}, ({ beat, enzyme, json, space }) =>
  ask<Explanations>(space, `explain?beat=${beat}&enzyme=${encodeURIComponent(enzyme)}`).pipe(
    Effect.flatMap((explained) =>
      Output.data(json, explained, explained.signals.length === 0
        ? `beat ${beat} captured no signal`
        : explained.signals.map(
          ({ detail, id, own, signal, target, verdict }) =>
            `${verdict}  ${Printable.event(id, own)} ${signal ?? ""}${target === undefined ? "" : ` → ${target}`}: ${detail}`
        ))
    )
  )).pipe(Command.withDescription("Tell why an enzyme ran in a beat, or did not"), Command.provide(Client.layer))
