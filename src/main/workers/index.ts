/**
 * The runtime on Cloudflare Workers, exported as `systole/workers`: each space is a Durable Object.
 *
 * The entry of a Worker gives `make` its modules and its configuration, and exports the classes and the handler. Its
 * bindings are `SPACES` for the class `Space` and `DIRECTORY` for the class `Directory`, both with SQLite storage.
 *
 * @module
 */
import { DurableObject } from "cloudflare:workers"
import type * as Value from "../../cell/Value.ts"
import type { Built } from "../Built.ts"
import { surely } from "./Alarm.ts"
import * as Directories from "./Directory.ts"
import * as ForeignCaller from "./ForeignCaller.ts"
import type { Env, Letters, Names, ObjectState, Pull, Refusal, Socket } from "./Platform.ts"
import * as Router from "./Router.ts"
import * as SettingsOf from "./Settings.ts"
import { SpaceHost } from "./SpaceHost.ts"

export type { Env } from "./Platform.ts"
export type { Parts } from "./Settings.ts"

/** A class of objects, for the platform alone to make. */
export type ObjectClass<Methods extends object = object> = new (state: ObjectState, env: Env) => Methods

/** An object with one space, as the platform calls it. */
export interface SpaceObject {
  fetch(request: Request): Promise<Response>
  alarm(): Promise<void>
  arrive(letters: Letters): Promise<ReadonlyArray<Refusal | null>>
  pull(read: Pull): Promise<Value.Value>
}

/** The exports of a Worker's entry. */
export interface Worker {
  readonly Space: ObjectClass<SpaceObject>
  readonly Directory: ObjectClass
  /** The default export. */
  readonly handler: { readonly fetch: (request: Request, env: Env) => Promise<Response> }
}

/**
 * Creates the classes and the handler of a Worker.
 *
 * The configuration is decoded with the first request. If it is invalid, each request is answered as a problem (RFC 9457),
 * and the log says why.
 *
 * @example An entry, which needs a Worker to run
 * ```ts ignore
 * import { Enzyme } from "systole"
 * import { make } from "systole/workers"
 *
 * const greet = Enzyme.make({
 *   name: "greet",
 *   query: "/signals/greet",
 *   writes: ["/data/greeted"],
 *   run: (tx) => tx.increment("/data/greeted")
 * })
 *
 * export const { Directory, Space, handler } = make({
 *   manifest: { "enzymes/greet.ts": { module: greet, hash: "1" } },
 *   config: { spaces: { create: "on-demand" } }
 * })
 * export default handler
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (parts: SettingsOf.Parts): Worker => from((env) => SettingsOf.make(parts, env))

/**
 * The classes and the handler of a build, from its generated module.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofBuild = (built: Built): Worker => from((env) => SettingsOf.ofBuild(built, env))

const from = (decode: (env: Env) => SettingsOf.Settings): Worker => {
  let made: SettingsOf.Settings | undefined
  const settingsOf = (env: Env): SettingsOf.Settings => made ??= decode(env)

  class Space extends DurableObject<Env> {
    readonly #host: () => SpaceHost
    readonly #storage: ObjectState["storage"]

    constructor(state: ObjectState, env: Env) {
      super(state, env)
      this.#storage = state.storage
      let host: SpaceHost | undefined
      // The platform calls an object by its name alone, and only valid names reach it.
      const { id: { name = "" }, storage } = state
      this.#host = () => host ??= new SpaceHost({ space: name, storage, state, env, settings: settingsOf(env) })
    }

    async fetch(request: Request): Promise<Response> {
      return this.#host().fetch(request)
    }

    alarm(): Promise<void> {
      return surely(this.#storage, () => this.#host().alarm())
    }

    async webSocketMessage(socket: Socket): Promise<void> {
      return this.#host().hear(socket, false)
    }

    async webSocketClose(socket: Socket): Promise<void> {
      return this.#host().hear(socket, true)
    }

    async arrive(letters: Letters): Promise<ReadonlyArray<Refusal | null>> {
      return this.#host().arrive(letters)
    }

    async pull(read: Pull): Promise<Value.Value> {
      return this.#host().pull(read)
    }
  }

  class Directory extends DurableObject<Env> {
    readonly #names: Directories.Directory
    readonly #proof: () => string

    constructor(state: ObjectState, env: Env) {
      super(state, env)
      this.#names = new Directories.Directory(state.storage)
      this.#proof = () => settingsOf(env).proof
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
  }

  return { Space, Directory, handler: { fetch: Router.make(settingsOf) } }
}
