/**
 * `systole/testing`: tests of modules and of stores, for any test runner and without a server.
 *
 * - {@link TestSpace}: a space in memory under a test clock, with promises for answers.
 * - {@link expectReceipt}, {@link expectCell}, {@link expectSignal}: expectations with messages.
 * - {@link persistenceContract}: the tests that each store passes.
 * - {@link transportContract}: the tests that each transport of federation passes, and {@link MockNetwork}, one within a process.
 * - {@link TestRuntime}: the same runtime as a layer, for tests that are written with Effect.
 *
 * @module
 */
export { ExpectationFailed } from "./contract/Check.ts"
export { type TransportPlace, transportContract } from "./contract/TransportContract.ts"
export { type ContractTest, type Place, persistenceContract } from "./contract/PersistenceContract.ts"
export { expectCell, type ExpectedHandling, type ExpectedReceipt, type ExpectedSignal, expectReceipt, expectSignal } from "./Expect.ts"
export { MockNetwork, type MockScript } from "./MockTransport.ts"
export * as TestPacemaker from "./TestPacemaker.ts"
export { type Channels as TestChannels, TestReactor } from "./TestReactor.ts"
export * as TestRuntime from "./TestRuntime.ts"
export { MAX_BEATS, type Options as TestSpaceOptions, type SentSignal, TestSpace } from "./TestSpace.ts"
export type {} from "../composition/Slices.ts"
