/**
 * The client of a server: every request of the contract, and the spaces.
 *
 * @module
 */
import { type AnyParts, type Caller, callerOf, type CallOptions, type Rest, type Settings } from "./Caller.ts"
import type { Contract, Key, Parts } from "./Contract.ts"
import { SpaceClient } from "./SpaceClient.ts"

/**
 * The client of a server.
 *
 * @category models
 * @since 0.2.0
 */
export class Client {
  private readonly caller: Caller

  constructor(settings: Settings) {
    this.caller = callerOf(settings)
  }

  /** The client of one space. */
  space(name: string): SpaceClient {
    return new SpaceClient(this.caller, name)
  }

  /**
   * Sends a request of the contract, which its method and path name, and gives its answer as JSON has it.
   *
   * Rejects with {@link RequestFailed}.
   */
  call<K extends Key>(key: K, ...[parts]: Rest<Parts<Contract[K]>, CallOptions>): Promise<Contract[K]["answer"]> {
    return this.caller.send(key, (parts ?? {}) as AnyParts) as Promise<Contract[K]["answer"]>
  }
}

/**
 * Makes the client of a server. It opens no connection.
 *
 * @example A page of the same server
 * ```ts
 * import { connect } from "systole/client"
 *
 * export const shop = connect().space("shop")
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const connect = (settings: Settings = {}): Client => new Client(settings)
