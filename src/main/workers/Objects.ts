/**
 * The classes of a Worker's objects, and its handler.
 *
 * They import no runtime: the first call of an object opens it.
 *
 * @module
 */
import type { Redacted } from "../../cell/Redacted.ts"
import { DurableObject } from "cloudflare:workers"
import * as AccessTable from "../../access/AccessTable.ts"
import type { Database } from "../../access/Database.ts"
import type { Change, EndResult, SaveResult, Snapshot, EndedPass } from "../../access/TokenSet.ts"
import * as Withdrawn from "../../access/WithdrawnCredentials.ts"
import { surely } from "./Alarm.ts"
import * as Directories from "./Directory.ts"
import * as ForeignCaller from "./ForeignCaller.ts"
import type { Inside } from "./Inside.ts"
import type {
  AlarmInfo, Env, Letters, Names, ObjectState, Post, Pull, PullAnswer, Refusal, Socket, TokenUse
} from "./Platform.ts"
import * as Router from "./Router.ts"
import type { SpaceHost } from "./SpaceHost.ts"
import { databaseOf } from "./TokenObject.ts"

/** A class of objects, for the platform alone to make. */
export type ObjectClass<Methods extends object = object> = new (state: ObjectState, env: Env) => Methods

/** An object with one space, as the platform calls it. */
export interface SpaceObject {
  fetch(request: Request): Promise<Response>
  alarm(info?: AlarmInfo): Promise<void>
  arrive(letters: Letters): Promise<ReadonlyArray<Refusal | null>>
  pull(read: Pull): Promise<PullAnswer>
  post(signal: Post): Promise<Response>
}

/** The exports of a Worker's entry. */
export interface Worker {
  readonly Space: ObjectClass<SpaceObject>
  readonly Directory: ObjectClass
  /** The default export. */
  readonly handler: { readonly fetch: (request: Request, env: Env) => Promise<Response> }
}

/**
 * Creates the classes and the handler from the parts of a Worker.
 */
export const make = ({ gate, inside: open }: Router.Parts): Worker => {
  let opened: Promise<Inside> | undefined
  // A failed attempt is repeated by the next call.
  const inside = (env: Env): Promise<Inside> => opened ??= open(env).catch((failure: unknown) => {
    opened = undefined
    throw failure
  })

  const handler = { fetch: Router.make({ gate, inside }) }
  return { Space: spaceClass(inside), Directory: directoryClass(gate), handler }
}

const spaceClass = (inside: Router.Parts["inside"]): Worker["Space"] =>
  class Space extends DurableObject<Env> {
    readonly #state: ObjectState
    readonly #env: Env
    #made: SpaceHost | undefined

    constructor(state: ObjectState, env: Env) {
      super(state, env)
      this.#state = state
      this.#env = env
    }

    async #host(): Promise<SpaceHost> {
      const { host } = await inside(this.#env)
      // The platform calls an object by its name alone, and only valid names reach it.
      const { id: { name = "" } } = this.#state
      return this.#made ??= host(name, this.#state)
    }

    async fetch(request: Request): Promise<Response> {
      return (this.#made ?? await this.#host()).fetch(request)
    }

    alarm({ isRetry = false }: Partial<AlarmInfo> = {}): Promise<void> {
      return surely(this.#state.storage, {
        isRepeated: isRetry,
        work: async () => (this.#made ?? await this.#host()).alarm(),
        report: (failure) => Router.report({ env: this.#env, inside }, failure)
      })
    }

    async webSocketMessage(socket: Socket, message: unknown): Promise<void> {
      return (this.#made ?? await this.#host()).hear(socket, message)
    }

    async webSocketClose(socket: Socket): Promise<void> {
      await this.#made?.closed(socket)
    }

    /** The client is gone without a close. */
    async webSocketError(socket: Socket): Promise<void> {
      await this.#made?.closed(socket)
    }

    async arrive(letters: Letters): Promise<ReadonlyArray<Refusal | null>> {
      return (this.#made ?? await this.#host()).arrive(letters)
    }

    async pull(read: Pull): Promise<PullAnswer> {
      return (this.#made ?? await this.#host()).pull(read)
    }

    async post(signal: Post): Promise<Response> {
      return (this.#made ?? await this.#host()).post(signal)
    }
  }

const directoryClass = (gate: Router.Parts["gate"]): Worker["Directory"] =>
  // Its name is no name of the module that it uses: esbuild would take one for the other.
  class DirectoryObject extends DurableObject<Env> {
    readonly #names: Directories.Directory
    readonly #tokens: Database
    readonly #proof: () => Redacted

    constructor(state: ObjectState, env: Env) {
      super(state, env)
      this.#names = new Directories.Directory(state.storage)
      this.#tokens = databaseOf(state.storage)
      this.#proof = () => gate(env).proof
    }

    add(proof: string, space: string): void {
      ForeignCaller.check(proof, this.#proof())
      this.#names.add(space)
    }

    remove(proof: string, space: string): void {
      ForeignCaller.check(proof, this.#proof())
      this.#names.remove(space)
    }

    list(proof: string, page: { readonly after: string; readonly limit: number }): Names {
      ForeignCaller.check(proof, this.#proof())
      return this.#names.list(page)
    }

    tokens(proof: string, known?: string): Snapshot | undefined {
      ForeignCaller.check(proof, this.#proof())
      return AccessTable.load(this.#tokens, known)
    }

    saveToken(proof: string, change: Change): SaveResult {
      ForeignCaller.check(proof, this.#proof())
      return AccessTable.save(this.#tokens, change)
    }

    withdrawn(proof: string, known?: string): Withdrawn.Withdrawn | undefined {
      ForeignCaller.check(proof, this.#proof())
      return Withdrawn.load(this.#tokens, known)
    }

    withdraw(proof: string, change: Change): void {
      ForeignCaller.check(proof, this.#proof())
      Withdrawn.add(this.#tokens, change)
    }

    useToken(proof: string, { day, id }: TokenUse): void {
      ForeignCaller.check(proof, this.#proof())
      AccessTable.use(this.#tokens, id, day)
    }

    sessionKey(proof: string, drawn?: string): string | undefined {
      ForeignCaller.check(proof, this.#proof())
      return AccessTable.key(this.#tokens, drawn)
    }

    spend(proof: string, spent: EndedPass & { readonly now: number }): EndResult {
      ForeignCaller.check(proof, this.#proof())
      return Withdrawn.spend(this.#tokens, spent)
    }
  }
