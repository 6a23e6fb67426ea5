/**
 * Circles of `on_change`: actions that write the paths by which they, or others of the circle, begin again.
 *
 * The paths that an action writes are relative to the root of the channel `file`, and the watched ones to the folder of the
 * control file. So two paths count as one if one of them ends with the other. What a program writes is unknown.
 *
 * @module
 */
import type { Finding } from "../text/Issue.ts"
import type { Action } from "./Action.ts"

/** The operations of a file action that write its target. */
const WRITING: ReadonlySet<unknown> = new Set(["write", "copy", "move"])

/** A path without `./` before it and slashes behind it. */
const plain = (path: string): string => {
  let end = path.length
  while (path.charAt(end - 1) === "/") end--
  return path.slice(0, end).replace(/^(?:\.\/)+/, "")
}

const writtenBy = ({ outputFile, params, type }: Action): ReadonlyArray<string> => {
  const target = type === "file" && WRITING.has(params.get("operation")) ? params.get("target") : undefined
  return [...typeof target === "string" ? [target] : [], ...outputFile === undefined ? [] : [outputFile]].map(plain)
}

/** Whether a change of one path is seen by a watch of another one: itself, or the folder that it is in. */
const isSeen = (written: string, watched: string): boolean =>
  written === watched || written.endsWith(`/${watched}`) || watched.endsWith(`/${written}`) || `/${written}`.includes(`/${watched}/`)

/** An action that a change begins, and the path that it watches. */
interface Watching {
  readonly action: Action
  readonly path: string
}

/** The most watching actions that are compared with each other. */
const MAX_COMPARED = 200

/**
 * Finds the actions of such circles.
 */
export const findings = (actions: ReadonlyArray<Action>): ReadonlyArray<Finding> => {
  const watching = actions.flatMap((action): ReadonlyArray<Watching> =>
    action.schedule.kind === "on_change" ? [{ action, path: plain(action.schedule.path) }] : []).slice(0, MAX_COMPARED)
  const next = new Map(watching.map(({ action }) => {
    const written = writtenBy(action)
    return [action.id, watching.filter(({ path }) => written.some((each) => isSeen(each, path))).map((each) => each.action.id)]
  }))
  return watching.flatMap(({ action: { block, id }, path }) => {
    if (!isCircle(id, next)) return []
    const offset = block.fields.find(({ key }) => key === "schedule")?.valueSpan.start ?? block.heading.start
    const message = `The action "${id}" runs at a change of ${path.slice(0, 100)}, which it or its followers write`
    return [{ code: "agent/schedule-loop", severity: "warning", offset, message, suggestion: "watch another path", block: block.index }]
  })
}

/** Whether an action is reached again from itself. */
const isCircle = (id: string, next: ReadonlyMap<string, ReadonlyArray<string>>): boolean => {
  const seen = new Set<string>()
  const open = [...next.get(id) ?? []]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (each === id) return true
    if (seen.has(each)) continue
    seen.add(each)
    open.push(...next.get(each) ?? [])
  }
  return false
}
