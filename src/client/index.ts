/**
 * Systole for pages and programs that use a server: all of `systole/client`.
 *
 * @module
 */
export type { CallOptions, Settings } from "./Caller.ts"
export { Client, connect } from "./Client.ts"
export type { Bytes, Contract, EventOf, Key, Parts, SpaceKey, StreamKey } from "./Contract.ts"
export type { GiveToken } from "./Exchange.ts"
export type { FollowOptions, StreamState } from "./Follow.ts"
export type { Rich } from "./Json.ts"
export type { Platform } from "./Platform.ts"
export { type Bearer, renewed } from "./Renewed.ts"
export { type Problem, RequestFailed } from "./RequestFailed.ts"
export { type Receipt, type Sent, type SignalOptions, type SignalParts, SpaceClient, type Update, type Watch } from "./SpaceClient.ts"
