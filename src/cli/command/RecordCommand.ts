/**
 * Commands on one record of a ledger: print it, and follow it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** The records of one ledger on the command line. */
export interface Records {
  /** The path segment of the records below their space, such as `ops`. */
  readonly segment: string
  /** The argument that names a record. */
  readonly id: Argument.Argument<string>
}

/** The answer to a change: the beat that applied it. */
export interface ChangeAnswer {
  readonly beat: number
}

/**
 * The HTTP path of a record.
 */
export const path = ({ segment }: Records, space: string, id: string): string =>
  `${SpaceArgument.path(space)}/${segment}/${encodeURIComponent(id)}`

/**
 * The command `show`: prints a record, as `lines` renders it.
 */
export const show = <Row>(
  records: Records,
  { description, lines }: { readonly description: string; readonly lines: (row: Row) => ReadonlyArray<string> }
) =>
  Command.make("show", { space: SpaceArgument.name, id: records.id, json: Output.json }, ({ id, json, space }) =>
    Client.use((client) => client.ask<Row>(path(records, space, id))).pipe(
      Effect.flatMap((row) => Output.data(json, row, lines(row)))
    )).pipe(Command.withDescription(description))

/** A version of a record as `watch` prints it: its fields for JSON, and its line. */
export interface Version {
  readonly fields: Readonly<Record<string, unknown>>
  readonly line: string
}

/**
 * The command `watch`: prints a record now, and again after each beat that changes it.
 */
export const watch = <Row>(
  records: Records,
  { description, times, version }: {
    readonly description: string
    /** The description of the flag `--times`. */
    readonly times: string
    readonly version: (row: Row) => Version
  }
) =>
  Command.make("watch", {
    space: SpaceArgument.name,
    id: records.id,
    times: Flag.Int("times").pipe(Flag.withDescription(times), Flag.optional),
    json: Output.json
  }, ({ id, json, space, times }) =>
    Effect.gen(function*() {
      const events = (yield* Client).events(path(records, space, id))
      const some = Option.isSome(times) ? Stream.take(events, times.value) : events
      yield* Stream.runForEach(some, ({ id, value }) => {
        const beat = Number(id)
        if (value === undefined) return Output.data(json, { beat }, `${beat}  absent`)
        const { fields, line } = version(value as Row)
        return Output.data(json, { beat, ...fields }, `${beat}  ${line}`)
      })
    })).pipe(Command.withDescription(description))
