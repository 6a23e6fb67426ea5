/**
 * `systole token`: creates, lists, rotates and revokes tokens.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { verbs } from "../../contract/Endpoint.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import * as Endpoints from "../../contract/Tokens.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"

type Row = AnswerOf<typeof Endpoints.list>["tokens"][number]
type Secret = AnswerOf<typeof Endpoints.create>

/** A flag with a list of texts between commas. */
const list = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const entries = (text: string): ReadonlyArray<string> => text.split(",").map((part) => part.trim()).filter((part) => part !== "")

const given = (name: string, flag: Option.Option<string>): Readonly<Record<string, ReadonlyArray<string>>> =>
  Option.match(flag, { onNone: () => ({}), onSome: (text) => ({ [name]: entries(text) }) })

/** Prints a secret on standard output, so that a script can take it. */
const told = (json: boolean, secret: Secret) =>
  Effect.andThen(
    Output.note(`Token sys_${secret.id} until ${new Date(secret.expires).toISOString()}. Keep it now: it is never shown again`),
    Output.data(json, secret, secret.token)
  )

const create = Command.make("create", {
  space: list("space", "The names of its spaces, with commas between them; all spaces without it"),
  verbs: Flag.String("verbs").pipe(Flag.withDescription(`Its verbs, of ${verbs.join(",")}`)),
  prefix: list("prefix", "Addresses such as /data/orders: it reads cells at and below them, and sends signals to targets there"),
  clearance: list("clearance", "The atoms of labels that it may know; all without it, none with \"\""),
  expires: Flag.String("expires").pipe(Flag.withDescription("Its duration, such as 12h or 90d, up to 366d"), Flag.withDefault("90d")),
  json: Output.json
}, ({ clearance, expires, json, prefix, space, verbs }) => {
  const body = {
    verbs: entries(verbs), expires, ...given("spaces", space), ...given("prefixes", prefix), ...given("clearance", clearance)
  }
  return Effect.flatMap(
    Client.use((client) => client.ask<Secret>(Endpoints.TOKENS, { method: "POST", body })),
    (secret) => told(json, secret)
  )
}).pipe(
  Command.withDescription("Create a token for a part of the interface, and print its secret"),
  Command.withExamples([{
    command: "systole token create --space shop --verbs read,signal --prefix /data/orders --expires 90d"
  }])
)

const stateOf = ({ expires, revoked, secrets }: Row): string =>
  revoked !== undefined ? `revoked ${new Date(revoked).toISOString()}`
    : `until ${new Date(expires).toISOString()}${secrets > 1 ? ", two secrets" : ""}`

const columns = (row: Row): ReadonlyArray<string> => [
  `sys_${row.id}`,
  row.verbs.join(","),
  row.spaces?.join(",") ?? "all spaces",
  [
    ...row.prefixes === undefined ? [] : [row.prefixes.join(",")],
    ...row.clearance === undefined ? [] : [`clearance ${row.clearance.join(",") || "none"}`]
  ].join(" "),
  stateOf(row),
  row.used === undefined ? "unused" : `used ${row.used}`,
  counted(row.denied)
]

/** Numbers of refusals by their codes. */
const counted = (denied: Readonly<Record<string, number>> = {}): string =>
  Object.entries(denied).map(([code, count]) => `${count} ${code}`).join(", ")

/** Tells the refusals of credentials that are none of the list, if there are some. */
const others = ({ jwt, unknown }: AnswerOf<typeof Endpoints.list>) =>
  Effect.all([
    jwt === undefined ? Effect.void : Output.note(`refused JSON Web Tokens: ${counted(jwt)}`),
    unknown === 0 ? Effect.void : Output.note(`refused requests with other tokens: ${unknown}`)
  ], { discard: true })

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  Effect.gen(function*() {
    const rows = yield* PageList.readAll<Row>(Endpoints.TOKENS, "tokens")
    yield* Output.data(json, rows, Output.table(rows.map(columns)))
    const counts = yield* Client.use((client) => client.ask<AnswerOf<typeof Endpoints.list>>(`${Endpoints.TOKENS}?limit=1`))
    yield* others(counts)
  })
).pipe(Command.withDescription("List the tokens by the beginnings of their secrets: scope, end, newest day of use, refusals"))

const token = Argument.String("token").pipe(Argument.withDescription("The beginning of its secret, such as sys_1a2b3c4d"))

const pathOf = (token: string): string => `${Endpoints.TOKENS}/${encodeURIComponent(token)}`

const settled = Flag.Boolean("end").pipe(
  Flag.withDescription("End the rotation: the older secret is refused from now on"),
  Flag.withDefault(false)
)

const rotate = Command.make("rotate", { token, end: settled, json: Output.json }, ({ end, json, token }) =>
  end
    ? Effect.flatMap(
      Client.use((client) => client.ask<AnswerOf<typeof Endpoints.settle>>(`${pathOf(token)}/rotation`, { method: "DELETE" })),
      (answer) => Output.data(json, answer, `sys_${answer.id} has its newest secret alone`)
    )
    : Effect.flatMap(
      Client.use((client) => client.ask<Secret>(`${pathOf(token)}/rotation`, { method: "POST" })),
      (secret) => told(json, secret)
    )).pipe(Command.withDescription("Give a token a second secret, and print it; the one before goes on until the rotation ends"))

const revoke = Command.make("revoke", { token, json: Output.json }, ({ json, token }) =>
  Effect.flatMap(
    Client.use((client) => client.ask<AnswerOf<typeof Endpoints.revoke>>(pathOf(token), { method: "DELETE" })),
    (answer) => Output.data(json, answer, `revoked sys_${answer.id}`)
  )).pipe(Command.withDescription("Revoke a token, with its secrets and its open streams"))

/**
 * The command `token`.
 */
export const command = Command.make("token").pipe(
  Command.withDescription("Create, list, rotate and revoke tokens with a scope"),
  Command.withSubcommands([create, ls, rotate, revoke]),
  Command.provide(Client.layer)
)
