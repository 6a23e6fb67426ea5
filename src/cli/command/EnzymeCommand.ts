/**
 * `systole enzyme`: lists the registered enzymes.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"

/** An enzyme in the list. The JSON output has further fields. */
interface Row {
  readonly name: string
  readonly query: string
  readonly hash: string | null
}

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  PageList.readWithNote<Row>("/v1/enzymes", "enzymes").pipe(
    Effect.flatMap((enzymes) =>
      Output.data(json, enzymes, Output.table(
        enzymes.map(({ hash, name, query }) => [name, query === "" ? "(every signal)" : query, hash?.slice(0, 12) ?? ""])
      ))
    )
  )).pipe(Command.withDescription("List the enzymes with their queries and the hashes of their code"))

/**
 * The command `enzyme`.
 */
export const command = Command.make("enzyme").pipe(
  Command.withDescription("Look at enzymes"),
  Command.withSubcommands([ls]),
  Command.provide(Client.layer)
)
