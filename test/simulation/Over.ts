/**
 * Objects of the product with some members of the world.
 *
 * @module
 */

/** An object with other members in the place of some of its own. */
export const over = <A extends object>(target: A, own: Partial<A>): A => new Proxy(target, {
  get: (_, key) => {
    const value: unknown = Object.hasOwn(own, key) ? Reflect.get(own, key) : Reflect.get(target, key, target)
    return typeof value === "function" ? value.bind(target) : value
  }
})
