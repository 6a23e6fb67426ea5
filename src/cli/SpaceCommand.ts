/**
 * `systole space`: the spaces there are, and new ones.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { Client } from "./Client.ts"
import * as Output from "./Output.ts"

/**
 * The argument that names a space.
 *
 * @category references
 * @since 0.1.0
 */
export const name = Argument.String("space").pipe(Argument.withDescription("The name of a space: a-z, 0-9 and -"))

/**
 * Where the ingress shows a space.
 *
 * @category getters
 * @since 0.1.0
 */
export const path = (space: string): string => `/v1/spaces/${encodeURIComponent(space)}`

const create = Command.make("create", { space: name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<{ readonly created: boolean }>(path(space), { method: "PUT" })).pipe(
    Effect.flatMap((answer) => Output.data(json, answer, answer.created ? `created ${space}` : `${space} is there already`))
  )).pipe(Command.withDescription("Create a space; one that is there already stays as it is"))

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  Client.use((client) => client.ask<{ readonly spaces: ReadonlyArray<string> }>("/v1/spaces")).pipe(
    Effect.flatMap(({ spaces }) => Output.data(json, spaces, spaces))
  )).pipe(Command.withDescription("List the spaces"))

/**
 * The command `space`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("space").pipe(
  Command.withDescription("Create and list spaces"),
  Command.withSubcommands([create, ls]),
  Command.provide(Client.layer)
)
