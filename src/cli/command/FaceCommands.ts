/**
 * The commands of ledgers, made from their faces: the list of records, one record and its stream, and verbs.
 *
 * A verb takes the required texts of its body as arguments and its other fields as flags.
 *
 * @module
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { Face, Verb } from "../../contract/Face.ts"
import * as Fields from "../../contract/Fields.ts"
import type { CliFailure } from "../CliFailure.ts"
import { type Ask, Client } from "../Client.ts"
import * as FlowCommand from "./FlowCommand.ts"
import * as IoCommand from "./IoCommand.ts"
import * as Json from "../Json.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as RecordCommand from "./RecordCommand.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** A text of the reference as a description of the command line, which has no marks and no last dot. */
const plain = (does: string): string => does.replaceAll("`", "").replace(/\.$/, "")

const idOf = ({ records: { id }, text: { example, one } }: Face) =>
  Argument.String(id).pipe(Argument.withDescription(`The id of the ${one}, such as ${example}`))

const recordsOf = (face: Face): RecordCommand.Records => ({ segment: face.records.segment, id: idOf(face) })

const listOf = ({ records, text }: Face) => {
  const served = PageList.serverPage<never>(records.segment, records.rows)
  const { order } = text
  const [switched] = Object.entries(records.switches ?? {})
  const list: PageList.List<never> = {
    name: "ls",
    description: `List the ${text.many} of a space`,
    after: `Where the list before ended, as the ${records.id} of the last`,
    page: order === undefined ? served : PageList.orderedPage(records.segment, records.rows, {
      order: (a, b) => text.order!(a as never, b as never),
      id: records.id
    }),
    columns: text.columns
  }
  if (switched === undefined) return PageList.command(list)
  const [name, effect] = switched
  const page = PageList.serverPage<never>(records.segment, records.rows, `&${name}`)
  return PageList.withFilter(list, { name, description: plain(effect), page })
}

/** The parameter of a field. */
const parameterOf = ({ isOptional, means, name, type }: Fields.Field): Command.Command.Config[string] => {
  if (type === "text" && !isOptional) return Argument.String(name).pipe(Argument.withDescription(means))
  if (type === "flag") return Flag.Boolean(name).pipe(Flag.withDescription(means), Flag.withDefault(false))
  if (type === "number") return maybe(Flag.Int(name).pipe(Flag.withDescription(means)), isOptional)
  return maybe(Flag.String(name).pipe(Flag.withDescription(type === "json" ? `${means}, as JSON` : means)), isOptional)
}

const maybe = <A>(flag: Flag.Flag<A>, isOptional: boolean) => isOptional ? Flag.optional(flag) : flag

type Given = Readonly<Record<string, unknown>>

const valueOf = ({ name, type }: Fields.Field, given: unknown): Effect.Effect<unknown, CliFailure> => {
  const value = Option.isOption(given) ? Option.getOrUndefined(given) : given
  if (type === "amount" && /^-?\d{1,15}$/.test(String(value))) return Effect.succeed(Number(value))
  return type === "json" && value !== undefined ? Json.parse(`--${name}`, String(value)) : Effect.succeed(value)
}

const bodyOf = (fields: ReadonlyArray<Fields.Field>, given: Given): Effect.Effect<object, CliFailure> =>
  Effect.map(
    Effect.forEach(fields, (field) => Effect.map(valueOf(field, given[field.name]), (value) => [field.name, value] as const)),
    (entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  )

/** The switches that are set, as a query. */
const queryOf = (names: ReadonlyArray<string>, given: Given): string => {
  const set = names.filter((name) => given[name] === true)
  return set.length === 0 ? "" : `?${set.join("&")}`
}

/** The header with the token of a worker, if the environment has one. */
const shownBy = (worker: string | undefined): Effect.Effect<Pick<Ask, "headers">, Config.ConfigError> =>
  Effect.gen(function*() {
    const token = worker === undefined ? Option.none() : yield* Config.option(Config.NonEmptyString(worker))
    return Option.isNone(token) ? {} : { headers: { authorization: `Rendezvous ${token.value}` } }
  })

const verbOf = (face: Face, name: string, { body, does, done, on, switches = {}, worker }: Verb) => {
  const { records } = face
  const fields = Fields.of(body)
  const id = on === "record" ? { [records.id]: idOf(face) } : {}
  const parameters: Command.Command.Config = {
    space: SpaceArgument.name,
    ...id,
    ...Object.fromEntries(fields.map((field) => [field.name, parameterOf(field)])),
    ...Object.fromEntries(Object.entries(switches).map(([name, effect]) =>
      [name, Flag.Boolean(name).pipe(Flag.withDescription(plain(effect)), Flag.withDefault(false))])),
    json: Output.json
  }
  return Command.make(name, parameters, (given) => Effect.gen(function*() {
    const { json, space, ...rest } = given as unknown as Given & { readonly json: boolean; readonly space: string }
    const path = on === "record"
      ? `${RecordCommand.path(recordsOf(face), space, String(rest[records.id]))}/${name}`
      : `${SpaceArgument.path(space)}/${records.segment}`
    const ask: Ask = { method: "POST", ...yield* shownBy(worker), ...body === undefined ? {} : { body: yield* bodyOf(fields, rest) } }
    const client = yield* Client
    const answer = yield* client.ask<Given & RecordCommand.ChangeAnswer>(`${path}${queryOf(Object.keys(switches), rest)}`, ask)
    yield* Output.data(json, answer, done(String(answer[records.id]), answer.beat, answer))
  })).pipe(Command.withDescription(plain(does)))
}

/** The commands that no face has, by ledger. */
const extras: Readonly<Record<string, ReadonlyArray<typeof FlowCommand.declared | typeof IoCommand.channels>>> = {
  flow: [FlowCommand.declared],
  io: [IoCommand.channels]
}

/**
 * The command of a ledger.
 */
export const make = (face: Face) => {
  const { text: { command, lines, many, one, version }, verbs } = face
  const records = recordsOf(face)
  const show = RecordCommand.show<never>(records, { description: `Print one ${one}`, lines })
  const watch = version === undefined ? [] : [RecordCommand.watch<never>(records, {
    description: `Print the ${one} now, and again after each beat that changes it`,
    times: "Stop after this many states",
    version
  })]
  const acts = Object.entries(verbs).map(([name, verb]) => verbOf(face, name, verb))
  return Command.make(command).pipe(
    Command.withDescription(`List, print and change ${many}`),
    Command.withSubcommands([listOf(face), show, ...watch, ...acts, ...extras[face.ledger] ?? []]),
    Command.provide(Client.layer)
  )
}
