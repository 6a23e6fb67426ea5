/**
 * Faces: all that the world sees of one ledger, as data.
 *
 * The API of a space, the routes of HTTP, the commands of the command line and the reference are made from it. It imports no
 * kernel and no store, so a browser can take it, too. Its schemas are made when they are first used.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"

/** A schema that is made when it is first used. */
export type Lazy<S extends Schema.Top = Schema.Top> = () => S

/** The schema of an object with named fields. */
export type Fields = Lazy<Schema.Struct<Schema.Struct.Fields>>

/** A request that changes a ledger. Its answer has the id of the record, the beat that executed it, and the fields of `reply`. */
export interface Verb {
  /** The effect, as one or more sentences. */
  readonly does: string
  /** Whether it makes a record, or changes one. */
  readonly on: "list" | "record"
  /** The fields of its body. Without them it has no body. */
  readonly body?: Fields
  /** Switches, as parameters of the query. */
  readonly switches?: Switches
  /** Fields of the answer beside the id and the beat. */
  readonly reply?: Fields
  /** Whether the answer has a secret, which no cache may keep. */
  readonly isSecret?: boolean
  /** Whether it ends or controls accepted work, so that a full host takes it, too. */
  readonly isControl?: boolean
  /**
   * For a verb of workers, who show a token of the record: the variable of the environment that has it on the command line.
   * A server lets only the path of `REPORT` in `Paths.ts` pass with such a token alone.
   */
  readonly worker?: string
  /** The line of the command line that confirms it, from the id, the beat and the whole answer. */
  readonly done: (id: string, beat: number, answer: Readonly<Record<string, unknown>>) => string
}

/** A record after a change, as the command line prints it: its fields for JSON, and its line. */
export interface Version {
  readonly fields: Readonly<Record<string, unknown>>
  readonly line: string
}

/** Switches by their names, each with its effect, as a sentence. */
export type Switches = Readonly<Record<string, string>>

/** The types of one face. */
export interface Kinds {
  readonly Row: Lazy
  readonly Record: Lazy
  readonly Id: string
  readonly Rows: string
  readonly Switches: Switches
  readonly Verbs: Readonly<Record<string, Verb>>
}

/** The records of a ledger. */
export interface Records<K extends Kinds = Kinds> {
  /** The path segment of the list below its space, and the name of the ledger in the API of a space. */
  readonly segment: string
  /** The name of the id of a record, as path parameter and as field of an answer. */
  readonly id: K["Id"]
  /** The name of the rows in a page of the list. */
  readonly rows: K["Rows"]
  /** Switches of the list. */
  readonly switches?: K["Switches"]
  /** The schema of a record in the list. */
  readonly row: K["Row"]
  /** The schema of a whole record. */
  readonly record: K["Record"]
  /** The cell that a stream of the record follows. */
  cell(id: string, record: ReturnType<K["Record"]>["Type"]): string
  /** The failure for an id without a record. */
  absent(id: string): Error
  /** The failure for a body that does not fit its schema. A face without bodies has none. */
  invalid?(reason: string): Error
}

/** The words of a ledger on the command line, which has its rows and records as JSON. */
export interface Text<K extends Kinds = Kinds> {
  /** The command, such as `op`; one record, and many of them. */
  readonly command: string
  readonly one: string
  readonly many: string
  /** An id, such as `OPS:12.0.0`. */
  readonly example: string
  /** Orders the rows of a list; the order of the server unless given. */
  order?(a: ReturnType<K["Row"]>["Encoded"], b: ReturnType<K["Row"]>["Encoded"]): number
  columns(row: ReturnType<K["Row"]>["Encoded"]): ReadonlyArray<string>
  lines(record: ReturnType<K["Record"]>["Encoded"]): ReadonlyArray<string>
  /** The value of the cell that a stream follows. Without this, the ledger has no command `watch`. */
  version?(value: never): Version
}

/**
 * The face of a ledger.
 */
export interface Face<K extends Kinds = Kinds> {
  /** The name of the ledger, such as `op`. */
  readonly ledger: string
  readonly records: Records<K>
  readonly verbs: K["Verbs"]
  readonly text: Text<K>
}

/**
 * The faces of the ledgers by their names in the API of a space. The folder of a ledger adds its own, by declaration merging.
 */
export interface Faces {}

/**
 * Makes a face.
 */
export const make = <
  Row extends Lazy,
  Record extends Lazy,
  const Id extends string,
  const Rows extends string,
  const Verbs extends Kinds["Verbs"],
  const Switched extends Switches = {}
>(
  ledger: string,
  face: Omit<Face<{ Row: Row; Record: Record; Id: Id; Rows: Rows; Switches: Switched; Verbs: Verbs }>, "ledger">
): Face<{ Row: Row; Record: Record; Id: Id; Rows: Rows; Switches: Switched; Verbs: Verbs }> => ({ ledger, ...face })

/** The types of a face. */
export type KindsOf<F> = F extends Face<infer K> ? K : never

/** The body of a verb: its fields, or its switches. */
export type BodyOf<V> = V extends { readonly body: Lazy<infer S> } ? S["Type"] & Shown<V>
  : V extends { readonly switches: infer S } ? Switched<S>
  : {}

/** The token that a worker shows. */
type Shown<V> = V extends { readonly worker: string } ? { readonly token?: string | undefined } : {}

type Switched<S> = { readonly [Name in keyof S]?: boolean | undefined }

/** The answer to a verb. */
export type ReplyOf<V, Id extends string> =
  & { readonly [Name in Id]: string }
  & { readonly beat: number }
  & (V extends { readonly reply: Lazy<infer S> } ? S["Type"] : {})

type Optional<Body> = {} extends Body ? readonly [body?: Body] : readonly [body: Body]

/** The arguments of a verb: its body, after the id of the record that it changes. */
type Arguments<V> = V extends { readonly on: "record" } ? readonly [id: string, ...Optional<BodyOf<V>>] : Optional<BodyOf<V>>

/** A request for a page of a list: the cursor of the page before, and the most rows. */
export interface PageRequest {
  readonly after?: string | undefined
  readonly limit: number
}

/** The same, with the switches of the list. */
export type SwitchedPage<K extends Kinds> = PageRequest & Switched<K["Switches"]>

/** A page of a list, and the cursor of the next page; `undefined` at the end. */
export type PageOf<F> = F extends Face<infer K>
  ? { readonly [Name in K["Rows"]]: ReadonlyArray<ReturnType<K["Row"]>["Type"]> } & { readonly next: string | undefined }
  : never

/**
 * A ledger in the API of a space: its verbs, the list of its records, and one record.
 *
 * The next beat executes a verb; the answer follows once it is durable. A refused one changes no state.
 */
export type Client<F, Refused, Unread> = F extends Face<infer K>
  ? & {
      readonly [Name in keyof K["Verbs"]]: (
        ...args: Arguments<K["Verbs"][Name]>
      ) => Effect.Effect<ReplyOf<K["Verbs"][Name], K["Id"]>, Refused>
    }
    & {
      /** The records after a cursor, a page at a time. */
      readonly list: (page: SwitchedPage<K>) => Effect.Effect<PageOf<F>, Unread>
      /** A record; `undefined` if it is unknown. */
      readonly get: (id: string) => Effect.Effect<ReturnType<K["Record"]>["Type"] | undefined, Unread>
    }
  : never
