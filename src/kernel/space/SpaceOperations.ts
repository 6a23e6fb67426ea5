/**
 * The operations of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import { InvalidOperation } from "../../operation/OperationError.ts"
import * as Verbs from "../../operation/Verbs.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Continuation, OperationRequest, StateNote } from "../../stage/Launch.ts"
import type { OperationAsk } from "../model/Ask.ts"
import type { Answer, Control, Operation } from "../model/Control.ts"
import * as Dossiers from "../model/Dossiers.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { SpaceOperations } from "../view/Space.ts"

/** What they stand on. */
interface Around {
  /** Hands control input to the next beat; answers that beat's number when it is durable. */
  readonly control: (make: () => (answer: Answer) => Control) => Effect.Effect<number, ControlError>
  /** Looks when all that can be seen is durable. */
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
  readonly store: SpaceStore
}

/**
 * The operations of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveOperations implements SpaceOperations {
  private readonly around: Around

  constructor(around: Around) {
    this.around = around
  }

  start({ mode, payload, pipeline, target, ttl, verb }: OperationRequest): Effect.Effect<{ readonly oid: string; readonly beat: number }, ControlError> {
    return Effect.suspend(() => {
      let asked: Operation | undefined
      const request = { verb, target, mode, ...(ttl === undefined ? {} : { ttl }), ...(pipeline === undefined ? {} : { pipeline }) }
      const done = this.around.control(() => {
        Verbs.check(request)
        const value = encoded(payload)
        return (answer) => asked = { kind: "op", ask: { verb: "start", request, value }, oid: undefined, answer }
      })
      return Effect.map(done, (beat) => ({ oid: asked!.oid!, beat }))
    })
  }

  setState(oid: string, state: string, { code, note }: StateNote = {}): Effect.Effect<number, ControlError> {
    return this.ask([oid, state], () => ({ verb: "state", oid, state, ...(code === undefined ? {} : { code }), ...(note === undefined ? {} : { note }) }))
  }

  await(oid: string, want: string, { payload, signal, ttl }: Continuation): Effect.Effect<number, ControlError> {
    return this.ask([oid, want, signal], () => ({ verb: "await", oid, want, signal, ...(ttl === undefined ? {} : { ttl }), value: encoded(payload) }))
  }

  close(oid: string, status: string, summary?: unknown): Effect.Effect<number, ControlError> {
    return this.ask([oid, status], () => ({ verb: "close", oid, status, value: encoded(summary) }))
  }

  cancel(oid: string, summary?: unknown): Effect.Effect<number, ControlError> {
    return this.close(oid, "sts:cnl", summary)
  }

  list(page: { readonly after?: string | undefined; readonly limit: number }): Effect.Effect<Dossiers.OperationPage, ReadError> {
    return this.around.durably(() => Dossiers.list(this.around.store, page))
  }

  get(oid: string): Effect.Effect<Dossiers.OperationDossier | undefined, ReadError> {
    return this.around.durably(() => Dossiers.find(this.around.store, oid))
  }

  /** What comes in from outside may be of any type, and what is journaled is text. */
  private ask(words: ReadonlyArray<unknown>, make: () => OperationAsk): Effect.Effect<number, ControlError> {
    return this.around.control(() => {
      if (words.some((word) => typeof word !== "string")) throw new InvalidOperation({ reason: "its id, what it is to become and signals are texts" })
      const ask = make()
      return (answer) => ({ kind: "op", ask, oid: undefined, answer })
    })
  }
}

const encoded = (value: unknown): Document.Document | undefined => value === undefined ? undefined : Document.encode(value)
