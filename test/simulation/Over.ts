/**
 * Objects of the product with some members of the world.
 *
 * @module
 */

/** An object with other members in the place of some of its own. */
export const over = <A extends object>(target: A, own: Partial<A>): A => {
  const bound = new Map<unknown, unknown>()
  return new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Object.hasOwn(own, key) ? Reflect.get(own, key) : Reflect.get(target, key, target)
      if (typeof value !== "function") return value
      if (!bound.has(value)) bound.set(value, value.bind(target))
      return bound.get(value)
    }
  })
}
