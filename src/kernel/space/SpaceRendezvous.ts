/**
 * The rendezvous of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import * as Entries from "../../rendezvous/Entry.ts"
import type { RendezvousCommand, Spawned } from "../../rendezvous/Ledger.ts"
import { InvalidRendezvous } from "../../rendezvous/RendezvousError.ts"
import { TokenRefused } from "../../rendezvous/TokenRefused.ts"
import type { RendezvousSpec } from "../../stage/Launch.ts"
import { type PageRequest, valueAt } from "../view/CellList.ts"
import type { ListedStore } from "../view/CountedRows.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { RendezvousPage, RendezvousRow, SpaceRendezvous } from "../view/Space.ts"
import { LedgerClient, type LedgerHost } from "./LedgerClient.ts"

const rowOf = (store: ListedStore, key: string): RendezvousRow | undefined => {
  const entry = Entries.isKey(key) ? Entries.read(valueAt(store, Entries.address(key).key)) : undefined
  return entry === undefined ? undefined : { key, ...entry }
}

/**
 * The rendezvous of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveRendezvous implements SpaceRendezvous {
  private readonly host: LedgerHost
  private readonly client: LedgerClient<RendezvousCommand, Spawned | undefined, RendezvousRow>

  constructor(host: LedgerHost) {
    this.host = host
    this.client = new LedgerClient(host, "rv", { folder: Entries.FOLDER, isDeep: false, rowOf })
  }

  spawn(spec: RendezvousSpec): Effect.Effect<Spawned & { readonly beat: number }, ControlError> {
    return this.mint(() => ({ verb: "spawn", value: spec === undefined ? undefined : Document.encode(spec) }))
  }

  claim(key: string): Effect.Effect<Spawned & { readonly beat: number }, ControlError> {
    return this.mint(() => ({ verb: "claim", key: textual(key) }))
  }

  resched(key: string, delta: number): Effect.Effect<number, ControlError> {
    return this.ask(key, () => {
      if (typeof delta !== "number") throw new InvalidRendezvous({ reason: "what it is put off by is a number of beats" })
      return { verb: "resched", key, delta }
    })
  }

  release(key: string): Effect.Effect<number, ControlError> {
    return this.ask(key, () => ({ verb: "release", key }))
  }

  kill(key: string, { mode, wait }: { readonly mode?: string; readonly wait?: number } = {}): Effect.Effect<number, ControlError> {
    return this.ask(key, () => {
      if (mode !== undefined && typeof mode !== "string") throw new InvalidRendezvous({ reason: "its mode is a text" })
      if (wait !== undefined && typeof wait !== "number") throw new InvalidRendezvous({ reason: "its wait is a number of scans" })
      return { verb: "kill", key, ...(mode === undefined ? {} : { mode }), ...(wait === undefined ? {} : { wait }) }
    })
  }

  report(key: string, telemetry?: unknown, { token }: { readonly token?: string | undefined } = {}): Effect.Effect<number, ControlError> {
    return this.ask(key, () => {
      const value = telemetry === undefined ? undefined : Document.encode(telemetry)
      if (token === undefined) return { verb: "report", key, value }
      // The journal has no token that anybody could show, and nothing of who shows one that is not good; the beat looks again.
      const proof = this.host.hash(token)
      if (this.client.records.find(key)?.token_id !== proof) throw new TokenRefused({ key })
      return { verb: "report", key, value, proof }
    })
  }

  list(page: PageRequest): Effect.Effect<RendezvousPage, ReadError> {
    return Effect.map(this.client.records.list(page), ({ next, rows }) => ({ rendezvous: rows, next }))
  }

  get(key: string): Effect.Effect<RendezvousRow | undefined, ReadError> {
    return this.client.records.get(key)
  }

  /** Commands that answer a token. */
  private mint(make: () => RendezvousCommand): Effect.Effect<Spawned & { readonly beat: number }, ControlError> {
    return Effect.map(this.client.ask(make), ({ beat, reply }) => ({ ...reply!, beat }))
  }

  private ask(key: string, make: () => RendezvousCommand): Effect.Effect<number, ControlError> {
    return this.client.tell(() => {
      textual(key)
      return make()
    })
  }
}

const textual = (key: unknown): string => {
  if (typeof key !== "string") throw new InvalidRendezvous({ reason: "its key is a text" })
  return key
}
