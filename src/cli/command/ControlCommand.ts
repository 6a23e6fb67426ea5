/**
 * `systole pause`, `resume`, `rollback`, `shutdown` and `restart`: lifecycle commands of a space.
 *
 * Each command waits until its operation is closed and prints the result.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type { SpaceStatus } from "../../kernel/view/Space.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** A lifecycle command: its verb, its body, and the word printed on success. */
interface LifecycleRequest {
  readonly space: string
  readonly json: boolean
  readonly verb: string
  readonly body?: unknown
  readonly done: string
}

/** The state of an operation in an event of its stream. */
interface OperationState {
  readonly state: string
  readonly status?: string
}

const perform = Effect.fnUntraced(function*({ body, done, json, space, verb }: LifecycleRequest) {
  const client = yield* Client
  const { beat, oid } = yield* client.ask<{ readonly oid: string; readonly beat: number }>(
    `${SpaceArgument.path(space)}/control/${verb}`,
    { method: "POST", ...(body === undefined ? {} : { body }) }
  )
  const place = `${SpaceArgument.path(space)}/ops/${encodeURIComponent(oid)}`
  const ends = client.events(place).pipe(
    Stream.map(({ value }) => (value ?? {}) as OperationState),
    Stream.filter(({ status }) => status !== undefined),
    Stream.take(1)
  )
  const [end] = yield* Stream.runCollect(ends)
  if (end?.status !== "sts:ok") {
    const { close } = yield* client.ask<{ readonly close: { readonly summary?: { readonly note?: string } } | null }>(place)
    const why = close?.summary?.note ?? `it was closed with ${end?.status ?? "nothing"}`
    return yield* new CliFailure({
      exit: exits.failed,
      code: "control/failed",
      message: `${space} cannot ${verb}: ${why}. See systole op show ${space} ${oid}`
    })
  }
  const state = yield* client.ask<SpaceStatus>(`${SpaceArgument.path(space)}/control`)
  yield* Output.data(json, { oid, beat, ...state }, `${done} ${space} (${oid} since beat ${beat})`)
})

const plain = (verb: string, done: string, description: string) =>
  Command.make(verb, { space: SpaceArgument.name, json: Output.json }, ({ json, space }) => perform({ space, json, verb, done })).pipe(
    Command.withDescription(description),
    Command.provide(Client.layer)
  )

/**
 * The lifecycle commands of a space.
 */
export const commands = [
  plain("pause", "paused", "Pause a space: all signals but those with qos control wait, and /data is locked"),
  plain("resume", "resumed", "Resume a space: parked signals run"),
  Command.make("rollback", {
    space: SpaceArgument.name,
    beat: Argument.Int("beat").pipe(Argument.withDescription("The target beat: user data is restored to the state after it")),
    json: Output.json
  }, ({ beat, json, space }) => perform({ space, json, verb: "rollback", body: { to: beat }, done: `rolled back to beat ${beat}:` })).pipe(
    Command.withDescription("Restore all user data of a paused space to the state after a beat"),
    Command.provide(Client.layer)
  ),
  plain("shutdown", "shut down", "Shut a space down: signals wait until it is restarted"),
  plain("restart", "started", "Boot a space that was shut down")
] as const
