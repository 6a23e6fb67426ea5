/**
 * The operations of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../cell/Document.ts"
import { InvalidOperation } from "../operation/OperationError.ts"
import * as Verbs from "../operation/Verbs.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { OperationRequest, StateNote } from "../stage/Launch.ts"
import type { Answer, Control, Operation } from "./Control.ts"
import * as Dossiers from "./Dossiers.ts"
import type { Ask } from "./Operating.ts"
import type { ControlError, ReadError, SpaceOperations } from "./Space.ts"

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

  start(request: OperationRequest): Effect.Effect<{ readonly oid: string; readonly beat: number }, ControlError> {
    return Effect.suspend(() => {
      let asked: Operation | undefined
      const done = this.around.control(() => {
        const { mode, payload, target, ttl, verb } = request
        Verbs.check(request)
        if (payload !== undefined) Document.encode(payload)
        const plain = { verb, target, mode, ...(ttl === undefined ? {} : { ttl }), ...(payload === undefined ? {} : { payload }) }
        return (answer) => asked = { kind: "op", ask: { verb: "start", request: plain }, oid: undefined, answer }
      })
      return Effect.map(done, (beat) => ({ oid: asked!.oid!, beat }))
    })
  }

  setState(oid: string, state: string, { code, note }: StateNote = {}): Effect.Effect<number, ControlError> {
    return this.ask({ verb: "state", oid, state, ...(code === undefined ? {} : { code }), ...(note === undefined ? {} : { note }) })
  }

  close(oid: string, status: string, summary?: unknown): Effect.Effect<number, ControlError> {
    return this.ask({ verb: "close", oid, status, ...(summary === undefined ? {} : { summary }) })
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

  private ask(ask: Extract<Ask, { readonly oid: string }>): Effect.Effect<number, ControlError> {
    return this.around.control(() => {
      const words = ask.verb === "state" ? [ask.oid, ask.state] : [ask.oid, ask.status]
      if (words.some((word) => typeof word !== "string")) throw new InvalidOperation({ reason: "its id and what it is to become are texts" })
      if (ask.verb === "close" && ask.summary !== undefined) Document.encode(ask.summary)
      return (answer) => ({ kind: "op", ask, oid: undefined, answer })
    })
  }
}
