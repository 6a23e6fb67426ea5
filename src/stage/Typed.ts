/**
 * The types of a transaction's calls with typed cells and signals.
 *
 * @module
 */
import type { Place } from "../cell/Cell.ts"
import type { HeardSignal, SignalRequest } from "./Launch.ts"

/** The fields of an object, each of which may be left out or deleted. */
export type Fields<A> = A extends ReadonlyArray<unknown> ? never : A extends object ? { readonly [K in keyof A]?: A[K] | undefined } : never

/** The items of a list. */
export type Item<A> = A extends ReadonlyArray<infer Item> ? Item : never

/** A value for a text address: all but a promise and a function. */
export type TextValue<V> = V extends PromiseLike<unknown> | ((...args: never) => unknown) ? never : V

/** The values of the outer `:name` segments, where there are any. */
export type Under<Outer> = keyof Outer extends never ? [] : [under: Outer]

/** The rest of a request for a signal of a type: its names and its payload, where it has them. */
export type TypedRequest<A, Names> =
  & Omit<SignalRequest, "signal" | "target" | "payload">
  & { readonly target?: Place | undefined }
  & (keyof Names extends never ? unknown : { readonly params: Names })
  & (undefined extends A ? { readonly payload?: A } : { readonly payload: A })

/** A signal that a durable run heard, with its payload. */
export type Heard<A> = Omit<HeardSignal, "payload"> & { readonly payload: A }
