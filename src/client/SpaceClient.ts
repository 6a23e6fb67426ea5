/**
 * The client of one space: signals, receipts, cells, streams and content.
 *
 * @module
 */
import type { Cell } from "../cell/Cell.ts"
import type { Signal } from "../cell/Signal.ts"
import type { AnyParts, Caller, CallOptions, Rest } from "./Caller.ts"
import type { Bytes, Contract, EventOf, Parts, SpaceKey, StreamKey, Whole } from "./Contract.ts"
import type { FollowOptions } from "./Follow.ts"
import * as Json from "./Json.ts"
import { failed, RequestFailed } from "./RequestFailed.ts"

/** A cell by its text, such as `/data/orders/17#/count`, or with its type. */
export type Place<A> = string | Cell<A>

/** The receipt of an event. */
export type Receipt = Contract["GET /v1/spaces/:space/receipts/:id"]["answer"]

/** A signal that is an event. */
export interface Sent {
  /** The id of the event. */
  readonly id: string
  /** The own id: that which was given, or one that the client made. A repeated signal with it is the same event. */
  readonly own: string
  /** The receipt, if the event ended within `wait`. */
  readonly receipt: Receipt | undefined
}

type Moment = NonNullable<NonNullable<Contract["POST /v1/spaces/:space/signals"]["body"]>["at"]>

/** The parts of a signal beside its path, its names and its payload. */
export interface SignalOptions extends Omit<CallOptions, "isSafe"> {
  readonly target?: string | Cell<unknown> | undefined
  /** An own id. A repeated signal with it is the same event. */
  readonly id?: string | undefined
  readonly at?: Moment | undefined
  readonly qos?: "control" | "retain" | "discard" | undefined
  readonly label?: ReadonlyArray<string> | undefined
}

type Names<Given> = [keyof Given] extends [never] ? { readonly params?: undefined } : { readonly params: Given }
type Payload<A> = undefined extends A ? { readonly payload?: A } : { readonly payload: A }

/** The names and the payload of a signal with their types. */
export type SignalParts<A, Given> = Names<Given> & Payload<A> & SignalOptions

/** A value of a cell, as a stream tells it. */
export interface Update<A> {
  /** `undefined` for a cell without a value. */
  readonly value: A | undefined
  /** The place of a stream to go on after it, also in a later one: `after`. */
  readonly cursor: string
  /** The reason for which values before this one are missing. */
  readonly reset: string | undefined
}

/** A stream of the values of a cell. */
export interface Watch<A> extends AsyncIterable<Update<A>> {
  /**
   * Calls a function with each value until it is stopped, or `abort` ends the stream. Resolves at its end; rejects with
   * {@link RequestFailed} where the server refuses it for good.
   */
  each(take: (update: Update<A>) => void): Promise<void>
}

/** The own key of the parts of a request that a space is given for. */
type Own<K extends SpaceKey> = Parts<Contract[Whole<K>], "space">

const utf8 = new TextEncoder()

/** A text or a cell as the parameters and the query of its path. */
const placeOf = (place: Place<unknown>) => {
  const text = String(place)
  if (!text.startsWith("/")) throw failed("address/invalid", `"${text}" is no address of a cell. Write it like /data/orders/17`)
  // Further signs are those of keys.
  const [key = "", ...after] = text.split("#")
  const path = after.length === 0 ? undefined : after.join("#")
  const [id = "", scope] = key.split("?scope=")
  return { params: { "*": id.slice(1) }, query: { scope, path } }
}

/**
 * The client of one space.
 *
 * @category models
 * @since 0.2.0
 */
export class SpaceClient {
  private readonly caller: Caller
  readonly name: string

  constructor(caller: Caller, name: string) {
    this.caller = caller
    this.name = name
  }

  /**
   * Sends a signal, which becomes an event. With `wait` seconds its receipt is awaited, too.
   *
   * It has an own id, so it is sent again after a failure that leaves open whether it arrived, and stays one event. Rejects with
   * {@link RequestFailed}: the signal is refused, or the event died, and then there is a `location`.
   */
  async signal<A = unknown, Given = object>(
    signal: string | Signal<A, Given>,
    ...[parts]: Rest<SignalParts<A, Given>, {}>
  ): Promise<Sent> {
    const { abort, at, headers, id = this.caller.target.platform.id(), label, params, payload, qos, seconds, target, wait } =
      (parts ?? {}) as SignalOptions & { readonly params?: Readonly<Record<string, string>>; readonly payload?: unknown }
    const path = typeof signal === "string" ? signal : String(params === undefined ? signal : signal.at(params as Given))
    const { form, type } = Json.formOf(payload, this.caller.rich)
    const answer = await this.send("POST /signals", {
      body: { signal: path, target: target === undefined ? target : String(target), payload: form, id, at, qos, label },
      headers: { "content-type": type, ...headers },
      wait, seconds, abort, isSafe: true
    }) as Receipt | { readonly id: string }
    return { id: answer.id, own: id, receipt: "handlings" in answer ? answer : undefined }
  }

  /** The receipt of an event, by its id or its own id; with `wait` seconds that at its end. */
  receipt(id: string, options: CallOptions = {}): Promise<Receipt> {
    return this.send("GET /receipts/:id", { ...options, params: { id } }) as Promise<Receipt>
  }

  /**
   * The value of a cell; `undefined` for none. It is not checked against the type of the cell.
   *
   * Rejects with `cell/unchanged` where the header `if-none-match` names the value.
   */
  async get<A = unknown>(place: Place<A>, options: CallOptions & { readonly pull?: boolean } = {}): Promise<A | undefined> {
    const { params, query } = placeOf(place)
    try {
      const value = await this.send("GET /cells/*", { ...options, params, query: { ...query, pull: options.pull } })
      if (value === undefined) throw failed("cell/unchanged", `${place} has the value that if-none-match names`)
      return Json.read(value, this.caller.rich) as A
    } catch (error) {
      if (error instanceof RequestFailed && error.code === "cell/absent") return undefined
      throw error
    }
  }

  /** Writes a cell with the next beat. Rejects with `cell/type` if its type does not take the value. */
  async set<A = unknown>(place: Place<A>, value: NoInfer<A>, options: CallOptions = {}): Promise<{ readonly beat: number }> {
    if (value === undefined) throw failed("value/invalid", "A cell is set to undefined. Remove it with remove()")
    // As text, because bytes are a value here.
    const { form, type } = Json.formOf(value, this.caller.rich)
    const [body, headers] = [utf8.encode(Json.textOf(form)), { "content-type": type, ...options.headers }]
    return await this.send("PUT /cells/*", { ...options, ...placeOf(place), body, headers }) as { readonly beat: number }
  }

  /** Removes a cell, or a place inside it, with the next beat. */
  async remove(place: Place<unknown>, options: CallOptions = {}): Promise<{ readonly beat: number }> {
    return await this.send("DELETE /cells/*", { ...options, ...placeOf(place) }) as { readonly beat: number }
  }

  /**
   * The value of a cell now, and after each change, as an async iterable: each once, also where the connection breaks or the server
   * starts again. Values that are lost are told as `reset`.
   */
  watch<A = unknown>(place: Place<A>, options: FollowOptions = {}): Watch<A> {
    const updates = this.updates<A>(place, options)
    return {
      [Symbol.asyncIterator]: () => updates,
      each: async (take) => {
        for await (const update of updates) take(update)
      }
    }
  }

  /** Content by its hash: it is stored, and read. */
  readonly blobs = {
    put: (content: Bytes, options: CallOptions = {}) =>
      this.call("PUT /blobs", { seconds: 600, ...options, body: content }),
    get: (hash: string, options: CallOptions = {}) =>
      this.call("GET /blobs/:hash", { seconds: 600, ...options, params: { hash } })
  }

  /** Sends a request of the contract to this space, such as `GET /why`. Rejects with {@link RequestFailed}. */
  call<K extends SpaceKey>(key: K, ...[parts]: Rest<Own<K>, CallOptions>): Promise<Contract[Whole<K>]["answer"]> {
    return this.send(key, (parts ?? {}) as AnyParts) as Promise<Contract[Whole<K>]["answer"]>
  }

  /**
   * The events of a stream of the contract, such as `GET /beats`: each once, also where the connection breaks or the server starts
   * again.
   */
  stream<K extends StreamKey>(key: K, ...[parts]: Rest<Own<K>, FollowOptions>): AsyncIterable<EventOf<Contract[Whole<K>]["events"]>> {
    const events: AsyncIterable<unknown> = this.caller.stream(...this.own(key, (parts ?? {}) as AnyParts & FollowOptions))
    return events as AsyncIterable<EventOf<Contract[Whole<K>]["events"]>>
  }

  private send(key: string, parts: AnyParts & CallOptions): Promise<unknown> {
    return this.caller.send(...this.own(key, parts))
  }

  /** A request with the path and the name of this space. */
  private own<P extends AnyParts>(key: string, parts: P): [key: string, parts: P] {
    return [key.replace(" ", " /v1/spaces/:space"), { ...parts, params: { space: this.name, ...parts.params } }]
  }

  private async *updates<A>(place: Place<A>, options: FollowOptions): AsyncGenerator<Update<A>, void> {
    let reset: string | undefined
    for await (const { data, event, id } of this.caller.stream(...this.own("GET /cells/*", { ...placeOf(place), ...options }))) {
      if (event === "reset") reset = (data as { readonly reason: string }).reason
      else {
        yield { value: event === "absent" ? undefined : Json.read(data, this.caller.rich) as A, cursor: id, reset }
        reset = undefined
      }
    }
  }
}
