/**
 * Multimaps: lists by key, without empty lists.
 *
 * @module
 */

/** Appends a value to the list of a key. */
export const push = <V>(map: Map<string, Array<V>>, key: string, value: V): void => {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

/** Removes values from the list of a key. */
export const drop = <V>(map: Map<string, Array<V>>, key: string, which: (value: V) => boolean): void => {
  const rest = (map.get(key) ?? []).filter((value) => !which(value))
  if (rest.length === 0) map.delete(key)
  else map.set(key, rest)
}

/** Groups values by name. */
export const groupedByName = <V extends { readonly name: string }>(values: ReadonlyArray<V>): ReadonlyMap<string, ReadonlyArray<V>> => {
  const map = new Map<string, Array<V>>()
  for (const value of values) push(map, value.name, value)
  return map
}
