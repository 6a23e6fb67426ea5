/**
 * `Schema` of `systole/cells` in a page: types for the compiler, and no code. Each name of it gives the same schema of nothing.
 *
 * A bundler keeps the arguments of a call, so a schema of `effect/Schema` stays in the bundle of each page that imports a declaration.
 *
 * @module
 */

/** The names of functions that check, convert or make a value. */
const CHECKS = /^(?:decode|encode|is$|asserts$|make|ast$|to[A-Z])/

const refuse = (name: string | symbol): never => {
  throw new TypeError(
    `Schema of systole/cells checks no value in a page, so it has no ${String(name)}. Import effect/Schema where a page checks values`
  )
}

const nothing: ProxyHandler<() => void> = {
  get: (_, name) => typeof name === "symbol" || CHECKS.test(name) ? refuse(name) : Schema,
  has: (_, name) => refuse(name),
  // The fields of a schema are spread into another one.
  ownKeys: () => [],
  apply: () => Schema,
  construct: () => Schema
}

// A bound function can be constructed, for `extends`, and has no property of its own that a proxy would have to show.
export const Schema: () => void = /* @__PURE__ */ new Proxy(/* @__PURE__ */ function() {}.bind(undefined), nothing)
