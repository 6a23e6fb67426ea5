/**
 * Faces of ledgers in an open space: verbs as commands of the next beat, and their records.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { BodyOf, Face, Kinds, SwitchedPage, Verb } from "../../contract/Face.ts"
import * as Codec from "../../contract/Codec.ts"
import type { Command as LedgerCommand } from "../../ledger/Command.ts"
import type { Look, Outside, Page } from "../../ledger/Outside.ts"
import type { Command } from "../model/Command.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { SpaceFace } from "../view/Space.ts"
import type { Access } from "./Access.ts"
import type { LiveSpace } from "../live/LiveSpace.ts"
import type { SpacePart } from "./SpacePart.ts"

/** An open space, as the faces of its ledgers use it. */
export type Source = Pick<LiveSpace, "commands" | "look" | "name" | "publication" | "reads" | "runs">

/** The records of a ledger in an open space. */
export interface RecordReads<K extends Kinds> {
  list(space: Source, page: SwitchedPage<K>): Effect.Effect<Page<ReturnType<K["Row"]>["Type"]>, ReadError>
  get(space: Source, id: string): Effect.Effect<ReturnType<K["Record"]>["Type"] | undefined, ReadError>
}

/** The commands of the verbs of a face, for the beat. */
export type BeatCommands<Verbs> = {
  readonly [Name in keyof Verbs]: (body: BodyOf<Verbs[Name]>, id: string, space: Source) => Command
}

/** A face with its commands and its records. */
export interface Parts<K extends Kinds> extends RecordReads<K>, Pick<Outside<K>, "closed" | "face"> {
  readonly commands: BeatCommands<K["Verbs"]>
}

/** The fields that are given. One that is `undefined` is not; anything but an object stays as it is. */
const present = (given: unknown): Readonly<Record<string, unknown>> => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return (given ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

type Execute = (...args: ReadonlyArray<unknown>) => Effect.Effect<object, ControlError>

/** The fields of an answer that a reply gives: one that is a text is the id of a record. */
const fieldsOf = (reply: unknown, id: string): object =>
  typeof reply === "string" ? { [id]: reply } : typeof reply === "object" && reply !== null ? reply : {}

/**
 * The API of a ledger, made from its face.
 */
export const make = <K extends Kinds>({ closed, commands, face, get, list }: Parts<K>, access: Pick<Access, "use">): SpaceFace<Face<K>> => {
  const { records, verbs } = face as Face
  const verb = (name: string, { body, on, worker }: Verb): Execute => {
    const command = (commands as unknown as BeatCommands<Face["verbs"]>)[name]!
    const submit = (id: string, given: unknown) => access.use((space) => space.commands.submit(() => {
      if (typeof id !== "string") throw records.absent(typeof id)
      if (body === undefined) return command(given ?? {}, id, space)
      if (worker === undefined || Codec.isDecoded(body, given)) return command(decode(body, given), id, space)
      const { token, ...fields } = present(given)
      // A token is no field of a body, where anybody could look for one.
      return command({ ...decode(body, fields), ...token === undefined ? {} : { token } }, id, space)
    }))
    const decode = (schema: NonNullable<Verb["body"]>, given: unknown): object => {
      if (Codec.isDecoded(schema, given)) return given
      try {
        return Codec.decode(schema, present(given)) as object
      } catch (error) {
        throw error instanceof Codec.Misfit ? records.invalid?.(`it ${error.reason}`) ?? error : error
      }
    }
    /** The refusal of a verb for a record that the beat did not find. */
    const refused = (id: string, absent: ControlError): Effect.Effect<never, ControlError> => {
      if (closed === undefined || absent._tag !== (records.absent(id) as ControlError)._tag) return Effect.fail(absent)
      return Effect.matchEffect(access.use((space) => get(space, id)), {
        onSuccess: (found) => Effect.fail(found === undefined ? absent : closed(id, found) as ControlError),
        onFailure: () => Effect.fail(absent)
      })
    }
    return on === "list"
      ? (given) => Effect.map(submit("", given), ({ beat, reply }) => ({ ...fieldsOf(reply, records.id), beat }))
      : (id, given) => Effect.map(Effect.catch(submit(id as string, given), (error) => refused(id as string, error)), ({ beat, reply }) =>
        ({ [records.id]: id, ...typeof reply === "object" ? reply : {}, beat }))
  }
  const acts = Object.entries(verbs).map(([name, each]) => [name, verb(name, each)] as const)
  return {
    ...Object.fromEntries(acts),
    list: (page: SwitchedPage<K>) =>
      Effect.map(access.use((space) => list(space, page)), ({ next, rows }) => ({ [records.rows]: rows, next })),
    get: (id: string) => access.use((space) => get(space, id))
  } as unknown as SpaceFace<Face<K>>
}

/**
 * The API of a ledger, made from its outside.
 */
export const of = <K extends Kinds, C extends LedgerCommand>(
  { closed, commands, face, find, page, search }: Outside<K, C>,
  access: Access
): SpaceFace<Face<K>> => {
  const made = Object.entries<(body: never, id: string, look: Look) => C>(commands).map(([name, command]) =>
    [name, (body: never, id: string, { look }: Source): Command =>
      ({ kind: "ledger", ledger: face.ledger, command: command(body, id, look) })] as const)
  return make({
    face,
    ...closed === undefined ? {} : { closed },
    commands: Object.fromEntries(made) as BeatCommands<K["Verbs"]>,
    list: ({ reads }, request) => reads.page((rows) => page(rows, request)),
    get: ({ reads }, id) => {
      const look = reads.read((rows) => {
        if (typeof id !== "string") return {}
        const found = find(rows, id)
        return { found, searching: found === undefined ? search?.(rows, id) : undefined }
      })
      return Effect.flatMap(look, ({ found, searching }) =>
        searching === undefined ? Effect.succeed(found) : reads.search(() => searching))
    }
  }, access)
}

/**
 * The part of the API of a space for a ledger.
 */
export const part = <K extends Kinds, C extends LedgerCommand>(outside: Outside<K, C>): SpacePart => ({
  name: outside.face.records.segment,
  make: (access) => of(outside, access)
})
