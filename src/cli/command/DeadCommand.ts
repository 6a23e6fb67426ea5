/**
 * `systole dead`: lists, prints and redelivers dead letters.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as CodePlace from "../../diagnostic/CodePlace.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import type { DeadLetter } from "../../kernel/view/Space.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** A dead letter as the ingress returns it, with its payload as JSON. */
type LetterJson = DeadLetter & { readonly payload?: unknown; readonly message?: string } & Partial<CodePlace.CodePlace>

/** A dead letter that is sent again, and the beat. */
type Sent = Pick<DeadLetter, "id" | "own"> & { readonly beat: number }

const ls = PageList.command<DeadLetter>({
  name: "ls",
  description: "List the dead letters of a space",
  after: "Where the list before ended, as <id>/<enzyme>",
  page: PageList.serverPage("dead", "letters"),
  columns: (letter) => [Printable.event(letter.id, letter.own), letter.enzyme, `beat ${letter.beat}`, letter.code, about(letter)]
})

const id = Argument.String("id").pipe(Argument.withDescription("The id of the event, or the own id that it was sent with"))
const enzyme = Argument.String("enzyme").pipe(Argument.withDescription("The enzyme that failed, as the list names it"))

const path = (space: string, id: string, enzyme: string): string =>
  `${SpaceArgument.path(space)}/dead/${encodeURIComponent(id)}/${encodeURIComponent(enzyme)}`

const show = Command.make("show", { space: SpaceArgument.name, id, enzyme, json: Output.json }, ({ enzyme, id, json, space }) =>
  Client.use((client) => client.ask<LetterJson>(path(space, id, enzyme))).pipe(
    Effect.flatMap((letter) =>
      Output.data(json, letter, [
        `${Printable.event(letter.id, letter.own)} ${about(letter)}`,
        `  ${letter.enzyme} gave it up in beat ${letter.beat}, after ${Printable.count(letter.attempt, "attempt")}`,
        `  ${letter.code} ${letter.tag}${letter.message === undefined ? "" : `: ${letter.message}`}`,
        ...CodePlace.below(letter),
        `  payload ${Printable.value(letter.payload)}`
      ])
    )
  )).pipe(Command.withDescription("Print one dead letter with its payload and message"))

const send = Command.make("send", { space: SpaceArgument.name, id, enzyme, json: Output.json }, ({ enzyme, id, json, space }) =>
  Client.use((client) => client.ask<Sent>(`${path(space, id, enzyme)}/redelivery`, { method: "POST" })).pipe(
    Effect.flatMap((sent) =>
      Output.data(json, sent, `sent ${Printable.event(sent.id, sent.own)} to ${enzyme} again in beat ${sent.beat}`)
    )
  )).pipe(Command.withDescription("Send a dead letter again: its enzyme runs once more, and a durable run goes on from its log"))

const about = ({ signal, space, target }: DeadLetter): string =>
  [signal, target === undefined ? undefined : `→ ${target}`, space === undefined ? undefined : `to space ${space}`].filter(
    (part) => part !== undefined
  ).join(" ")

/**
 * The command `dead`.
 */
export const command = Command.make("dead").pipe(
  Command.withDescription("List, show and redeliver dead letters"),
  Command.withSubcommands([ls, show, send]),
  Command.provide(Client.layer)
)
