/**
 * `systole signal`: sends a signal and optionally waits for its receipt.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as CodePlace from "../../diagnostic/CodePlace.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import { MAX_WAIT_SECONDS } from "../../ingress/signal/SignalRequest.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client, foreign } from "../Client.ts"
import * as Json from "../Json.ts"
import * as Output from "../Output.ts"
import { type Answer, checkHandled } from "../SignalAnswer.ts"
import * as SpaceArgument from "../SpaceArgument.ts"
import * as WaitFlag from "../WaitFlag.ts"

/**
 * The command `signal`.
 */
export const command = Command.make("signal", {
  space: SpaceArgument.name,
  signal: Flag.String("signal").pipe(Flag.withDescription("The signal path, such as /signals/greet"), Flag.optional),
  target: Flag.String("target").pipe(Flag.withDescription("The cell it is asked of, such as /data/orders/17"), Flag.optional),
  payload: Flag.String("payload").pipe(Flag.withDescription("The payload, as JSON"), Flag.optional),
  qos: Flag.String("qos").pipe(Flag.withDescription("Its treatment by pause and rollback: control, retain or discard"), Flag.optional),
  id: Flag.String("id").pipe(
    Flag.withDescription("Your own id, of 1 to 512 characters: sent twice, the signal is handled once, and its event is found by it"),
    Flag.optional
  ),
  at: Flag.String("at").pipe(
    Flag.withDescription("When: after a time such as 10s, or as JSON {\"beats\":3} or {\"beat\":17}"),
    Flag.optional
  ),
  wait: WaitFlag.make(`Wait so long for the receipt, such as 10s; at most ${MAX_WAIT_SECONDS} s`, { least: 0, most: MAX_WAIT_SECONDS }),
  json: Output.json
}, ({ at, id, json, payload, qos, signal, space, target, wait }) =>
  Effect.gen(function*() {
    if (Option.isNone(signal) && Option.isNone(target)) {
      return yield* new CliFailure({
        exit: exits.usage,
        code: "signal/invalid",
        message: "The signal has neither --signal nor --target. Give at least one of the two"
      })
    }
    const client = yield* Client
    const value = { ...yield* parsed("payload", payload), ...yield* moment(at) }
    const answer = yield* client.ask<Answer>(`${SpaceArgument.path(space)}/signals`, {
      method: "POST",
      isOfEvent: true,
      body: { ...field("signal", signal), ...field("target", target), ...field("id", id), ...field("qos", qos), ...value },
      headers: Option.match(wait, { onNone: () => ({}), onSome: (seconds): Record<string, string> => ({ prefer: `wait=${seconds}` }) })
    })
    if (typeof answer.id !== "string") return yield* foreign("without \"id\"")
    yield* Output.data(json, answer, describe(answer, Option.getOrUndefined(id)))
    if ("status" in answer || Option.isSome(wait)) yield* checkHandled(answer)
  })).pipe(
    Command.withDescription("Send a signal to a space"),
    Command.withExamples([
      { command: "systole signal shop --signal /signals/greet/ann --wait 10s", description: "Greet Ann, and see the result" }
    ]),
    Command.provide(Client.layer)
  )

const parsed = (name: string, text: Option.Option<string>) =>
  Option.isSome(text) ? Effect.map(Json.parse(`--${name}`, text.value), (value) => ({ [name]: value })) : Effect.succeed({})

/** The time of the signal: JSON, or a duration. */
const moment = (at: Option.Option<string>) =>
  Option.isSome(at) && /^\d/.test(at.value) ? Effect.succeed({ at: at.value }) : parsed("at", at)

const field = (name: string, value: Option.Option<string>): Readonly<Record<string, string>> =>
  Option.isSome(value) ? { [name]: value.value } : {}

/** A result as text: empty for a run without one. */
const resultOf = (value: unknown): string => {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined || text === "{}" ? "" : text
}

const describe = (answer: Answer, own: string | undefined): ReadonlyArray<string> => {
  const id = Printable.event(answer.id, own)
  if (!("status" in answer)) return [`accepted ${id}${answer.beat === undefined ? "" : ` in beat ${answer.beat}`}`]
  const rows = Output.table(answer.handlings.map(({ beat, enzyme, error, outcome, value }) => [
    enzyme,
    outcome,
    `beat ${beat}`,
    error === undefined ? resultOf(value) : `${error.code}: ${error.message}`
  ]))
  return [`${answer.status} ${id}`, ...rows.flatMap((row, i) => [`  ${row}`, ...CodePlace.below(answer.handlings[i]?.error)])]
}
