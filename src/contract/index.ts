/**
 * The contract of HTTP: the endpoints as data, the `HttpApi` of Effect, and the OpenAPI document.
 *
 * @module
 */
export * as Api from "./Api.ts"
export * as Cells from "./Cells.ts"
export * as Control from "./Control.ts"
export type { Endpoint, Method } from "./Endpoint.ts"
export * as Inspection from "./Inspection.ts"
export * as OpenApi from "./OpenApi.ts"
export * as Problem from "./Problem.ts"
export * as Refusals from "./EndpointRefusals.ts"
export * as Sessions from "./Sessions.ts"
export * as Signals from "./Signals.ts"
export * as Spaces from "./Spaces.ts"
export * as Tokens from "./Tokens.ts"
