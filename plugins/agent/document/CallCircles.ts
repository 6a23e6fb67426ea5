/**
 * Circles of actions that run each other, as members or by `on_failure`.
 *
 * @module
 */
import type { Action } from "./Action.ts"

/**
 * Finds circles. Each action is in at most one of them.
 */
export const find = (
  actions: ReadonlyArray<Action>,
  calledOf: (action: Action) => ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<Action>> => {
  const byId = new Map(actions.map((action) => [action.id, action]))
  const done = new Set<string>()
  const circles: Array<ReadonlyArray<Action>> = []
  for (const start of actions) {
    /** The actions from the start to the present one, each with the calls that are not followed yet. */
    const path: Array<{ readonly action: Action; readonly calls: Array<string> }> = []
    const places = new Map<string, number>()
    const enter = (action: Action): void => {
      places.set(action.id, path.length)
      path.push({ action, calls: [...calledOf(action)] })
    }
    if (!done.has(start.id)) enter(start)
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const id = last.calls.pop()
      const next = id === undefined ? undefined : byId.get(id)
      const place = id === undefined ? undefined : places.get(id)
      if (id === undefined) {
        places.delete(last.action.id)
        done.add(last.action.id)
        path.pop()
      } else if (place !== undefined) {
        const circle = path.slice(place).map(({ action }) => action)
        if (circle.every((action) => !circles.some((other) => other.includes(action)))) circles.push(circle)
      } else if (next !== undefined && !done.has(id)) {
        enter(next)
      }
    }
  }
  return circles
}
