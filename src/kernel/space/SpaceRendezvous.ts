/**
 * The rendezvous of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as Entries from "../../rendezvous/Entry.ts"
import { InvalidRendezvous, TokenRefused } from "../../rendezvous/RendezvousError.ts"
import type { RendezvousSpec } from "../../stage/Launch.ts"
import type { RendezvousAsk, Spawned } from "../model/Ask.ts"
import type { Answer, Appointed, Control } from "../model/Control.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { RendezvousPage, RendezvousRow, SpaceRendezvous } from "../view/Space.ts"

/** Most rendezvous of one page. */
export const MAX_PAGE = 1000

/** What they stand on. */
export interface Around {
  /** Hands control input to the next beat; answers that beat's number when it is durable. */
  readonly control: (make: () => (answer: Answer) => Control) => Effect.Effect<number, ControlError>
  /** Looks when all that can be seen is durable. */
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
  readonly store: SpaceStore
  readonly hash: (text: string) => string
}

/**
 * The rendezvous of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveRendezvous implements SpaceRendezvous {
  private readonly around: Around

  constructor(around: Around) {
    this.around = around
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
      const proof = this.around.hash(token)
      if (this.find(Entries.isKey(key) ? key : undefined)?.token_id !== proof) throw new TokenRefused({ key })
      return { verb: "report", key, value, proof }
    })
  }

  list({ after, limit }: { readonly after?: string | undefined; readonly limit: number }): Effect.Effect<RendezvousPage, ReadError> {
    return this.around.durably(() => {
      const { store } = this.around
      const most = Math.min(limit, MAX_PAGE)
      const keys = store.below(Entries.FOLDER, { limit: most + 1, ...(after === undefined ? {} : { after: `${Entries.FOLDER}/${after}` }) })
      const rendezvous = keys.slice(0, most).flatMap((place) => this.find(Entries.keyOf(place)) ?? [])
      return { rendezvous, next: most > 0 && keys.length > most ? keys[most - 1]!.slice(Entries.FOLDER.length + 1) : undefined }
    })
  }

  get(key: string): Effect.Effect<RendezvousRow | undefined, ReadError> {
    return this.around.durably(() => this.find(Entries.isKey(key) ? key : undefined))
  }

  private find(key: string | undefined): RendezvousRow | undefined {
    if (key === undefined) return undefined
    const text = this.around.store.read(Entries.address(key).key)
    const value: Value = text === undefined ? undefined : Document.read(Document.decode(text), [])
    const entry = Entries.read(value)
    return entry === undefined ? undefined : { key, ...entry }
  }

  /** Asks for what a token comes of. */
  private mint(make: () => RendezvousAsk): Effect.Effect<Spawned & { readonly beat: number }, ControlError> {
    return Effect.suspend(() => {
      let asked: Appointed | undefined
      const done = this.around.control(() => {
        const ask = make()
        return (answer) => asked = { kind: "rv", ask, spawned: undefined, answer }
      })
      return Effect.map(done, (beat) => ({ ...asked!.spawned!, beat }))
    })
  }

  private ask(key: string, make: () => RendezvousAsk): Effect.Effect<number, ControlError> {
    return this.around.control(() => {
      textual(key)
      const ask = make()
      return (answer) => ({ kind: "rv", ask, spawned: undefined, answer })
    })
  }
}

const textual = (key: unknown): string => {
  if (typeof key !== "string") throw new InvalidRendezvous({ reason: "its key is a text" })
  return key
}
