/**
 * The keys of services in the definition of an enzyme.
 *
 * @module
 */
import type * as Context from "effect/Context"

/** The key of a service, as `Context.Service` makes it; its text alone in an enzyme that was made before. */
export type ServiceKey = Context.Key<unknown, unknown> | string

/** The identifier of a service. */
export type IdentifierOf<A> = A extends Context.Key<infer Identifier, unknown> ? Identifier : never

/** Whether a value is the key of a service, of any copy of the package. */
const isKey = (value: unknown): boolean =>
  (typeof value === "object" || typeof value === "function") && value !== null && "key" in value && typeof value.key === "string"

/** The reason why named services are none; `undefined` for a list of keys. */
export const misnamed = (services: unknown): string | undefined =>
  services === undefined || (Array.isArray(services) && services.every((one) => (typeof one === "string" && one !== "") || isKey(one)))
    ? undefined
    : "its services are no list of keys, such as classes that extend Context.Service"

const none: ReadonlyArray<string> = []

/** The keys of named services, each once, in code-unit order. */
export const keysOf = (services: ReadonlyArray<ServiceKey> | undefined): ReadonlyArray<string> =>
  services === undefined || services.length === 0
    ? none
    : [...new Set(services.map((one) => typeof one === "string" ? one : one.key))].sort()
