/**
 * `systole signal`: sends a signal, and waits for its receipt if told to.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { Receipt } from "../kernel/Space.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import { Client } from "./Client.ts"
import * as Json from "./Json.ts"
import * as Output from "./Output.ts"
import * as SpaceCommand from "./SpaceCommand.ts"

/** The answer at once, and the one after waiting. */
type Answer = Receipt | { readonly id: string; readonly beat?: number; readonly receipt: string }

/**
 * The command `signal`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("signal", {
  space: SpaceCommand.name,
  signal: Flag.String("signal").pipe(Flag.withDescription("What is asked, such as /signals/greet"), Flag.optional),
  target: Flag.String("target").pipe(Flag.withDescription("The cell it is asked of, such as /data/orders/17"), Flag.optional),
  payload: Flag.String("payload").pipe(Flag.withDescription("The payload, as JSON"), Flag.optional),
  id: Flag.String("id").pipe(Flag.withDescription("Your own id: sent twice, the signal is handled once"), Flag.optional),
  wait: Flag.Int("wait").pipe(Flag.withDescription("Wait this many seconds for the receipt"), Flag.optional),
  json: Output.json
}, ({ id, json, payload, signal, space, target, wait }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const value = Option.isSome(payload) ? { payload: yield* Json.parse("--payload", payload.value) } : {}
    const answer = yield* client.ask<Answer>(`${SpaceCommand.path(space)}/signals`, {
      method: "POST",
      body: { ...field("signal", signal), ...field("target", target), ...field("id", id), ...value },
      headers: Option.match(wait, { onNone: () => ({}), onSome: (seconds): Record<string, string> => ({ prefer: `wait=${seconds}` }) })
    })
    yield* Output.data(json, answer, describe(answer))
    if ("status" in answer && answer.status !== "handled") {
      return yield* new CliFailure({ exit: exits.failed, code: `signal/${answer.status}`, message: verdict(answer) })
    }
  })).pipe(
    Command.withDescription("Send a signal to a space"),
    Command.withExamples([{ command: "systole signal shop --signal /signals/greet/ann --wait 5", description: "Greet Ann, and see what came of it" }]),
    Command.provide(Client.layer)
  )

const field = (name: string, value: Option.Option<string>): Readonly<Record<string, string>> => Option.isSome(value) ? { [name]: value.value } : {}

const describe = (answer: Answer): ReadonlyArray<string> => {
  if (!("status" in answer)) return [`accepted ${answer.id}${answer.beat === undefined ? "" : ` in beat ${answer.beat}`}`]
  const handlings = answer.handlings.map((handling) => [
    `  ${handling.enzyme}`,
    handling.outcome,
    `beat ${handling.beat}`,
    handling.error === undefined ? JSON.stringify(handling.value) : `${handling.error.code}: ${handling.error.message}`
  ])
  return [`${answer.status} ${answer.id}`, ...Output.table(handlings)]
}

const verdict = (receipt: Receipt): string => {
  switch (receipt.status) {
    case "no-match":
      return "No enzyme takes this signal. See what there is with: systole enzyme ls"
    case "cycle":
      return "The enzymes that take this signal order each other in a circle, so none ran. See to their before and after"
    case "dead":
      return "A handling failed for good. Its error is in the receipt"
    default:
      return "The signal is not handled yet"
  }
}
