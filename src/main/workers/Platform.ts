/**
 * The parts of Cloudflare Workers that the runtime uses, as types.
 *
 * @module
 */
import type { Change, EndResult, SaveResult, Snapshot, EndedPass } from "../../access/TokenSet.ts"
import type { Withdrawn } from "../../access/WithdrawnCredentials.ts"
import type { ObjectPlace } from "../../../plugins/durable_object.ts"
import type { PostedSignal } from "../../kernel/view/Space.ts"

/** The storage of an object: its database, and its alarm. Calls that return promises take effect in the order of the calls. */
export interface Storage extends Readonly<ObjectPlace["storage"]> {
  /** The time of the armed alarm, in milliseconds since 1970; `null` without one, and while it runs. */
  readonly getAlarm: () => Promise<number | null>
  readonly setAlarm: (moment: number) => Promise<void>
  /** The value of a key beside the database. */
  readonly get: (key: string) => Promise<unknown>
  readonly put: (key: string, value: unknown) => Promise<void>
  readonly delete: (key: string) => Promise<unknown>
  /** Waits until all writes are stored. */
  readonly sync: () => Promise<void>
}

/** The server's end of a WebSocket. Its attachment outlives the object, and has at most 2,048 bytes. */
export interface Socket {
  readonly send: (text: string) => void
  readonly close: (code: number, reason: string) => void
  readonly serializeAttachment: (attachment: unknown) => void
  readonly deserializeAttachment: () => unknown
}

/** Creates both ends of a WebSocket: the client's one, for a response, and the server's one. */
export const socketPair = (): readonly [client: object, server: Socket] => {
  const { WebSocketPair } = globalThis as unknown as { readonly WebSocketPair: new() => { readonly 0: object; readonly 1: Socket } }
  const pair = new WebSocketPair()
  return [pair[0], pair[1]]
}

/** The state that the platform gives to an object. */
export interface ObjectState {
  /** Accepts a socket that may outlive the object. */
  readonly acceptWebSocket: (socket: Socket) => void
  /** The open sockets. */
  readonly getWebSockets: () => ReadonlyArray<Socket>
  /** `name` is absent from an id that was not made of a name. */
  readonly id: { readonly name?: string }
  readonly storage: Storage
}

/** The run of an alarm, as the platform tells it. */
export interface AlarmInfo {
  /** Whether the run before failed, or was ended by the platform. */
  readonly isRetry: boolean
}

/** The base class of objects with methods for other objects. The module `cloudflare:workers` has it. */
export declare class DurableObject<Env> {
  constructor(ctx: ObjectState, env: Env)
}

/** A refusal of a signal, as it travels between objects. */
export interface Refusal {
  readonly tag: string
  readonly code: string
  readonly message: string
}

/** The signals of a space for another one, in order. */
export interface Letters {
  /** The sender's proof that it is an object of this application. */
  readonly proof: string
  /** The origin of the sending space: its name, with its incarnation. */
  readonly from: string
  /** The texts of the rows: those of one delivery, which the sender's limits bound to one beat's worth. */
  readonly rows: ReadonlyArray<string>
}

/** A read for a page. */
export interface Pull {
  readonly proof: string
  readonly address: string
  /** Milliseconds. */
  readonly wait: number
}

/** A signal that a webhook verified. */
export interface Post {
  readonly proof: string
  readonly signal: Omit<PostedSignal, "payload">
  /** The text of its payload. */
  readonly payload: string | undefined
}

/** The answer to a read: the text of its value, or its failure with the plain fields of it. */
export type PullAnswer =
  | { readonly text: string | undefined }
  | { readonly refusal: Refusal; readonly fields: Readonly<Record<string, string | number>> }

/** A page of the names of spaces. */
export interface Names {
  readonly spaces: ReadonlyArray<string>
  /** The cursor of the next page; `null` after the last. */
  readonly next: string | null
}

/** An object with one space, as others call it. */
export interface SpaceStub {
  readonly fetch: (request: Request) => Promise<Response>
  /** Takes signals of another space. Returns one result per row: `null` if the signal is durable, else its refusal. */
  readonly arrive: (letters: Letters) => Promise<ReadonlyArray<Refusal | null>>
  /** Reads a cell for a page after its derivation has settled, within `wait` milliseconds. */
  readonly pull: (read: Pull) => Promise<PullAnswer>
  /** Takes a signal that a webhook verified, and answers as to a request. */
  readonly post: (signal: Post) => Promise<Response>
}

/** The object with the names of all spaces, as others call it. */
export interface DirectoryStub {
  readonly add: (proof: string, space: string) => Promise<void>
  readonly remove: (proof: string, space: string) => Promise<void>
  readonly list: (proof: string, page: { readonly after: string; readonly limit: number }) => Promise<Names>
  /** All tokens, in the object of that name; `undefined` if their revision is the known one. */
  readonly tokens: (proof: string, known?: string) => Promise<Snapshot | undefined>
  readonly saveToken: (proof: string, change: Change) => Promise<SaveResult>
  readonly useToken: (proof: string, use: TokenUse) => Promise<void>
  /** The withdrawn credentials, in the object of that name; `undefined` if their revision is the known one. */
  readonly withdrawn: (proof: string, known?: string) => Promise<Withdrawn | undefined>
  readonly withdraw: (proof: string, change: Change) => Promise<void>
  readonly sessionKey: (proof: string, drawn?: string) => Promise<string | undefined>
  readonly spend: (proof: string, spent: EndedPass & { readonly now: number }) => Promise<EndResult>
}

/** The use of a token on a day. */
export interface TokenUse {
  readonly id: string
  readonly day: string
}

/** The objects of one class, by their names. */
export interface Namespace<Stub> {
  readonly getByName: (name: string) => Stub
}

/** The bindings of a Worker. */
export interface Env {
  readonly SPACES: Namespace<SpaceStub>
  readonly DIRECTORY: Namespace<DirectoryStub>
  /** The files of the build's folder `assets`: the reference of the interface, and the scripts of pages. */
  readonly REFERENCE?: { readonly fetch: (request: Request) => Promise<Response> }
  /** The bearer token of the operator, a secret of the Worker. It replaces the one of the configuration. */
  readonly SYSTOLE_TOKEN?: string
  /** The text `true` lets a build be used without a token. */
  readonly SYSTOLE_PUBLIC?: string
}
