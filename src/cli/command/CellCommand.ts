/**
 * `systole cell`: reads, lists, sets and watches cells.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Address from "../../cell/Address.ts"
import { MAX_WAIT_SECONDS } from "../../ingress/signal/SignalRequest.ts"
import { type CliFailure, from } from "../CliFailure.ts"
import { Client } from "../Client.ts"
import * as Json from "../Json.ts"
import * as Output from "../Output.ts"
import { MAX_ROWS } from "../../kernel/view/PageTurns.ts"
import * as PageList from "../PageList.ts"
import * as SpaceArgument from "../SpaceArgument.ts"
import * as WaitFlag from "../WaitFlag.ts"

const address =
  Argument.String("address").pipe(Argument.withDescription("A cell such as /data/orders/17, or a place in it: /data/orders/17#/status"))

/** The HTTP path of the cell at an address. */
const path = (space: string, text: string): Effect.Effect<string, CliFailure> =>
  Effect.try({
    try: () => {
      const { id, path, scope } = Address.parse(text)
      const query = new URLSearchParams()
      if (scope !== Address.SPACE) query.set("scope", scope)
      if (path.length > 0) query.set("path", Address.pointer(path))
      return `${SpaceArgument.path(space)}/cells${encoded(id)}${query.size > 0 ? `?${query}` : ""}`
    },
    catch: (error) => from(error as Address.InvalidAddress)
  })

const encoded = (id: string): string => id.split("/").map(encodeURIComponent).join("/")

const get = Command.make("get", {
  space: SpaceArgument.name,
  address,
  pull: Flag.Boolean("pull").pipe(
    Flag.withDescription("Update a derived cell and its sources first, and wait until they are settled"),
    Flag.withDefault(false)
  ),
  wait: WaitFlag.make(`With --pull: wait at most so long, such as 30s; at most ${MAX_WAIT_SECONDS} s, and 10 s unless given`, {
    least: 1,
    most: MAX_WAIT_SECONDS
  }),
  json: Output.json
}, ({ address, json, pull, space, wait }) =>
  Effect.gen(function*() {
    const place = yield* path(space, address)
    const headers = Option.match(wait, { onNone: () => ({}), onSome: (seconds) => ({ prefer: `wait=${seconds}` }) })
    const asked = pull ? `${place}${place.includes("?") ? "&" : "?"}pull` : place
    const value = yield* (yield* Client).ask<unknown>(asked, { headers, isValue: true })
    yield* Output.data(json, value, JSON.stringify(value, null, 2))
  })).pipe(Command.withDescription("Print the value of a cell, as JSON"))

const ls = Command.make("ls", {
  space: SpaceArgument.name,
  id: Argument.String("cell").pipe(Argument.withDescription("The cell to look below"), Argument.withDefault("/")),
  after: Flag.String("after").pipe(Flag.withDescription("Go on after this cell"), Flag.withDefault("")),
  limit: Flag.Int("limit").pipe(Flag.withDescription(`At most this many, up to ${MAX_ROWS}`), Flag.withDefault(MAX_ROWS)),
  isAll: Flag.Boolean("all").pipe(
    Flag.withDescription("Also the folders of the runtime, such as /rt and /sys; those below a cell in one are listed anyway"),
    Flag.withDefault(false)
  ),
  json: Output.json
}, ({ after, id, isAll, json, limit, space }) =>
  Effect.gen(function*() {
    const query = new URLSearchParams({ below: "", ...isAll ? {} : { own: "" }, limit: String(limit), ...(after === "" ? {} : { after }) })
    const answer = yield* (yield* Client).ask<unknown>(`${SpaceArgument.path(space)}/cells${encoded(id)}?${query}`)
    const { next, rows } = yield* PageList.page<string>(answer, "cells")
    yield* Output.data(json, rows, rows)
    if (next !== null) yield* Output.note(`There may be more. Go on with --after ${next}`)
  })).pipe(Command.withDescription("List the cells of the project below a cell"))

const set = Command.make("set", {
  space: SpaceArgument.name,
  address,
  value: Argument.String("value").pipe(Argument.withDescription("The value, as JSON")),
  json: Output.json
}, ({ address, json, space, value }) =>
  Effect.gen(function*() {
    const body = yield* Json.parse("The value", value)
    const answer = yield* (yield* Client).ask<{ readonly beat: number }>(yield* path(space, address), { method: "PUT", body })
    yield* Output.data(json, answer, `set in beat ${answer.beat}`)
  })).pipe(Command.withDescription("Write a cell"))

const watch = Command.make("watch", {
  space: SpaceArgument.name,
  address,
  times: Flag.Int("times").pipe(Flag.withDescription("Stop after this many values"), Flag.optional),
  json: Output.json
}, ({ address, json, space, times }) =>
  Effect.gen(function*() {
    const events = (yield* Client).events(yield* path(space, address), { isValue: true })
    const some = Option.isSome(times) ? Stream.take(events, times.value) : events
    yield* Stream.runForEach(some, ({ data, event, id, value }) =>
      Output.data(json, { ...placeOf(id), value }, `${id}  ${event === "absent" ? "absent" : data}`))
  })).pipe(Command.withDescription("Print the value of a cell now, and after each beat that changes it"))

/** The place of a value in the stream: its beat, or the cursor of a reader, which shows no beat. A cursor has 16 digits. */
const placeOf = (id: string) => /^-?\d{1,15}$/.test(id) ? { beat: Number(id) } : { cursor: id }

/**
 * The command `cell`.
 */
export const command = Command.make("cell").pipe(
  Command.withDescription("Read and write cells"),
  Command.withSubcommands([get, ls, set, watch]),
  Command.provide(Client.layer)
)
