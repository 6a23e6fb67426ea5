/**
 * The types of the contract: each request that HTTP takes, by its method and path, such as `GET /v1/spaces/:space/why`.
 *
 * They are made of the endpoints, of which nothing but types is imported. So a page contains neither their schemas nor their texts.
 *
 * @module
 */
import type * as Schema from "effect/Schema"
import type * as Archive from "../contract/Archive.ts"
import type * as Cells from "../contract/Cells.ts"
import type * as Control from "../contract/Control.ts"
import type { Method, Params } from "../contract/Endpoint.ts"
import type { Face, Faces, KindsOf, Lazy } from "../contract/Face.ts"
import type * as Inspection from "../contract/Inspection.ts"
import type * as Sessions from "../contract/Sessions.ts"
import type * as Signals from "../contract/Signals.ts"
import type * as Spaces from "../contract/Spaces.ts"
import type * as Stores from "../contract/Stores.ts"
import type * as Tokens from "../contract/Tokens.ts"
import type {} from "../durable/Face.ts"
import type {} from "../flow/Face.ts"
import type {} from "../operation/Face.ts"
import type { face as requests } from "../reactor/Face.ts"
import type {} from "../rendezvous/Face.ts"

/** The path of one space. */
type OneSpace = "/v1/spaces/:space"

/** A request and its answers, as JSON has them. */
export interface Shape {
  /** Its method and path, such as `GET /v1/spaces/:space/why`. */
  readonly key: string
  readonly params: object
  readonly query: object
  /** `undefined` for none. */
  readonly body: unknown
  readonly answer: unknown
  /** The events of its stream by their names. */
  readonly events: object
}

/** The part of an endpoint that a client needs. */
interface AnyEndpoint {
  readonly method: Method
  readonly path: string
}

/** The endpoints in the exports of a module, also in records of them. */
type Among<T> = T extends AnyEndpoint ? T
  : T extends (...args: never) => unknown ? never
  : T extends object ? { [K in keyof T]: T[K] extends AnyEndpoint ? T[K] : never }[keyof T]
  : never

type In<M> = Extract<{ [K in keyof M]: Among<M[K]> }[keyof M], AnyEndpoint>

/** The form of JSON that a schema has. */
type Json<L> = L extends Lazy<infer S> ? S["Encoded"] : never

/** Bytes are sent and received as they are. */
export type Bytes = Uint8Array<ArrayBuffer> | ArrayBuffer | Blob | ReadableStream<Uint8Array>

type BodyOf<L> = L extends Lazy<Schema.Uint8Array> ? Bytes
  : L extends Lazy<infer S> ? unknown extends S["Encoded"] ? unknown : keyof S["Encoded"] extends never ? undefined : S["Encoded"]
  : undefined

type AnswerOf<L> = L extends Lazy<Schema.Uint8Array> ? Uint8Array<ArrayBuffer> : Json<L>

/** Parameters of a query are texts; a number or a switch may be given as such. */
type QueryOf<Encoded> = {
  readonly [K in keyof Encoded]: string extends Exclude<Encoded[K], undefined> ? string | number | boolean : Encoded[K]
}

/** The parameters of a path; `*` is all that follows, such as the address of a cell after its first slash. */
type ParamsOf<Path extends string> = Path extends `${infer Head}/*` ? Params<Head> & { readonly "*": string } : Params<Path>

/** The schemas by names that are known. */
type Named<V> = { readonly [K in keyof V as string extends K ? never : number extends K ? never : K]: V[K] }

type Values<T> = T[keyof T]

type Other<E> = E extends { readonly others?: infer O } ? Json<Values<Named<Exclude<O, undefined>>>> : never

type JsonOf<V> = { readonly [K in keyof V]: Json<V[K]> }

type ShapeOf<E extends AnyEndpoint> = {
  readonly key: `${E["method"]} ${E["path"]}`
  readonly params: ParamsOf<E["path"]>
  readonly query: E extends { readonly query?: Lazy<infer Q> } ? QueryOf<Q["Encoded"]> : {}
  readonly body: E extends { readonly body?: infer B } ? BodyOf<Exclude<B, undefined>> : undefined
  readonly answer: (E extends { readonly answer: infer A } ? AnswerOf<A> : never) | Other<E>
  readonly events: E extends { readonly events?: infer V } ? JsonOf<Named<Exclude<V, undefined>>> : {}
}

/** The endpoints of what is no ledger. */
type Plain = In<typeof Cells> | In<typeof Control> | In<typeof Inspection> | In<typeof Sessions> | In<typeof Signals> | In<typeof Spaces> |
  In<typeof Tokens> | In<typeof Stores> | In<typeof Archive>

type PlainShapes = { [E in Plain as ShapeOf<E>["key"]]: ShapeOf<E> }

/** A request to a ledger. Its query has the switches of the list or of the verb. */
interface OfLedger<Key extends string, Params, Switched, Body, Answer, Events = {}> {
  readonly key: Key
  readonly params: Params
  readonly query: { readonly [Name in keyof Switched]?: boolean | undefined }
  readonly body: Body
  readonly answer: Answer
  readonly events: Events
}

type Id<Name extends string> = { readonly [_ in "space" | Name]: string }

type Page = { readonly after?: string; readonly limit?: number | string }

type ListOf<Segment extends string, F> = F extends Face<infer K>
  ? OfLedger<`GET ${OneSpace}/${Segment}`, Id<never>, K["Switches"], undefined, Rows<K>> & { readonly query: Page }
  : never

type Rows<K extends KindsOf<Face>> =
  & { readonly [_ in K["Rows"]]: ReadonlyArray<ReturnType<K["Row"]>["Encoded"]> }
  & { readonly next: string | null }

type RecordOf<Segment extends string, F> = F extends Face<infer K>
  ? OfLedger<`GET ${OneSpace}/${Segment}/:${K["Id"]}`, Id<K["Id"]>, {}, undefined, ReturnType<K["Record"]>["Encoded"], OfCell>
  : never

/** The events of the stream of a record, which are those of its cell. */
type OfCell = ShapeOf<typeof Cells.read>["events"]

type VerbsOf<Segment extends string, F> = F extends Face<infer K>
  ? { [Name in keyof K["Verbs"] & string]: VerbOf<Segment, K["Id"], Name, K["Verbs"][Name]> }[keyof K["Verbs"] & string]
  : never

type VerbOf<Segment extends string, Key extends string, Name extends string, V> = V extends { readonly on: "list" }
  ? OfLedger<`POST ${OneSpace}/${Segment}`, Id<never>, SwitchesOf<V>, VerbBody<V>, VerbAnswer<V, Key>>
  : OfLedger<`POST ${OneSpace}/${Segment}/:${Key}/${Name}`, Id<Key>, SwitchesOf<V>, VerbBody<V>, VerbAnswer<V, Key>>

type SwitchesOf<V> = V extends { readonly switches: infer S } ? S : {}
type VerbBody<V> = V extends { readonly body: infer B } ? BodyOf<B> : undefined
type VerbAnswer<V, Key extends string> =
  & { readonly [_ in Key]: string }
  & { readonly beat: number }
  & (V extends { readonly reply: infer R } ? Json<R> : {})

/** The faces of all ledgers. Requests to the world have an API of their own in a space, and the same paths. */
interface AllFaces extends Faces {
  readonly io: typeof requests
}

/** The endpoints of the ledgers. */
type LedgerShapes = {
  [Segment in keyof AllFaces & string]:
    | ListOf<Segment, AllFaces[Segment]>
    | RecordOf<Segment, AllFaces[Segment]>
    | VerbsOf<Segment, AllFaces[Segment]>
}[keyof AllFaces & string]

/**
 * The requests that HTTP takes, by their method and path.
 *
 * @category models
 * @since 0.2.0
 */
export type Contract = PlainShapes & { [S in LedgerShapes as S["key"]]: S }

/** The keys of the contract. */
export type Key = keyof Contract & string

/** The keys of requests to one space, each without the path of the space: `GET /why`. */
export type SpaceKey = Within<Key>

type Within<K extends string> = K extends `${infer M} ${OneSpace}/${infer Rest}` ? `${M} /${Rest}` : never

/** The key of the contract for that of a request to one space. */
export type Whole<K extends SpaceKey> = K extends `${infer M} ${infer Path}` ? Extract<`${M} ${OneSpace}${Path}`, Key> : never

/** The keys of requests to one space that have a stream. */
export type StreamKey = { [K in SpaceKey]: keyof Contract[Whole<K>]["events"] extends never ? never : K }[SpaceKey]

/** The events of a stream. A `problem` is no event: it ends the stream or is passing. */
export type EventOf<Events> = {
  [Name in Exclude<keyof Events, "problem">]: { readonly id: string; readonly event: Name; readonly data: Events[Name] }
}[Exclude<keyof Events, "problem">]

/** A value that a request may leave out if each of its fields may be left out. */
type Given<Name extends string, T> = unknown extends T ? { readonly [_ in Name]: T }
  : [T] extends [undefined] ? {}
  : {} extends T ? { readonly [_ in Name]?: T }
  : { readonly [_ in Name]: T }

/** The parts of a request. A body that is not there, and a query or parameters without a field that is needed, are left out. */
export type Parts<S extends Shape, Known extends string = never> =
  & Given<"params", Omit<S["params"], Known>>
  & Given<"query", S["query"]>
  & Given<"body", S["body"]>
