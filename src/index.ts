/**
 * Systole for module authors and tests: all that they may import.
 *
 * @module
 */
export * as Address from "./cell/Address.ts"
export * as Document from "./cell/Document.ts"
export * as Link from "./cell/Link.ts"
export type { Value } from "./cell/Value.ts"
export * as Enzyme from "./registry/Enzyme.ts"
export type { Event } from "./registry/Enzyme.ts"
export { Fatal, Retry } from "./registry/Outcome.ts"
export type { Computation, Effect, Materializer } from "./scheduler/Node.ts"
export type { At, Io, Operations, Rendezvous, SignalRequest } from "./stage/Launch.ts"
export type { Transaction } from "./stage/Transaction.ts"
export { Hash } from "./persistence/Hash.ts"
export * as MemoryStore from "./persistence/MemoryStore.ts"
export * from "./persistence/Persistence.ts"
export * from "./persistence/PersistenceError.ts"
export type * from "./persistence/SqlDriver.ts"
export * as SqlStore from "./persistence/SqlStore.ts"
export * as Plugin from "./loader/Plugin.ts"
export * from "./kernel/Limits.ts"
export type * from "./kernel/Space.ts"
export * from "./kernel/SpaceError.ts"
