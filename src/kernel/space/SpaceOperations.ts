/**
 * The operations of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import * as Dossier from "../../operation/Dossier.ts"
import type { OperationCommand } from "../../operation/Ledger.ts"
import { InvalidOperation } from "../../operation/OperationError.ts"
import * as Verbs from "../../operation/Verbs.ts"
import type { Continuation, OperationRequest, StateNote } from "../../stage/Launch.ts"
import * as Dossiers from "../model/Dossiers.ts"
import type { PageRequest } from "../view/CellList.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { SpaceOperations } from "../view/Space.ts"
import { LedgerClient, type LedgerHost } from "./LedgerClient.ts"

/**
 * The operations of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveOperations implements SpaceOperations {
  private readonly host: LedgerHost
  private readonly client: LedgerClient<OperationCommand, string, Dossiers.OperationRow>

  constructor(host: LedgerHost) {
    this.host = host
    this.client = new LedgerClient(host, "op", { folder: Dossier.FOLDER, isDeep: true, rowOf: Dossiers.rowOf })
  }

  start(asked: OperationRequest): Effect.Effect<{ readonly oid: string; readonly beat: number }, ControlError> {
    const { mode, payload, pipeline, target, ttl, verb } = asked
    const request = { verb, target, mode, ...(ttl === undefined ? {} : { ttl }), ...(pipeline === undefined ? {} : { pipeline }) }
    const done = this.client.ask(() => {
      Verbs.check(request)
      return { verb: "start", request, value: encoded(payload) }
    })
    return Effect.map(done, ({ beat, reply }) => ({ oid: reply, beat }))
  }

  setState(oid: string, state: string, { code, note }: StateNote = {}): Effect.Effect<number, ControlError> {
    return this.ask([oid, state], () => ({
      verb: "state",
      oid,
      state,
      ...(code === undefined ? {} : { code }),
      ...(note === undefined ? {} : { note })
    }))
  }

  await(oid: string, want: string, { payload, signal, ttl }: Continuation): Effect.Effect<number, ControlError> {
    return this.ask([oid, want, signal], () => ({
      verb: "await",
      oid,
      want,
      signal,
      ...(ttl === undefined ? {} : { ttl }),
      value: encoded(payload)
    }))
  }

  close(oid: string, status: string, summary?: unknown): Effect.Effect<number, ControlError> {
    return this.ask([oid, status], () => ({ verb: "close", oid, status, value: encoded(summary) }))
  }

  cancel(oid: string, summary?: unknown): Effect.Effect<number, ControlError> {
    return this.close(oid, "sts:cnl", summary)
  }

  list(page: PageRequest): Effect.Effect<Dossiers.OperationPage, ReadError> {
    return Effect.map(this.client.records.list(page), ({ next, rows }) => ({ operations: rows, next }))
  }

  get(oid: string): Effect.Effect<Dossiers.OperationDossier | undefined, ReadError> {
    return this.host.durably(() => Dossiers.find(this.host.store, oid))
  }

  /** Input from outside may be of any type, and the journal has texts. */
  private ask(words: ReadonlyArray<unknown>, make: () => OperationCommand): Effect.Effect<number, ControlError> {
    return this.client.tell(() => {
      if (words.some((word) => typeof word !== "string")) {
        throw new InvalidOperation({ reason: "its id, what it is to become and signals are texts" })
      }
      return make()
    })
  }
}

const encoded = (value: unknown): Document.Document | undefined => value === undefined ? undefined : Document.encode(value)
