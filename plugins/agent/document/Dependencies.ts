/**
 * Dependencies: the graph of the actions of a file, and its errors.
 *
 * An action refers to others by `depends_on`, as a composite action by `actions`, by `on_failure` and in its condition.
 *
 * @module
 */
import type { Action } from "./Action.ts"
import * as CallCircles from "./CallCircles.ts"
import type { Block } from "../text/Block.ts"
import { field } from "../text/Block.ts"
import * as Conditions from "../schedule/Condition.ts"
import type { Finding } from "../text/Issue.ts"
import * as Outputs from "../text/Outputs.ts"
import { closest } from "../text/Suggestion.ts"

/** The actions without an error in their references, and the errors of the others. */
export interface Resolution {
  readonly actions: ReadonlyArray<Action>
  readonly findings: ReadonlyArray<Finding>
}

/** The maximum number of members of a composite action, with those of its members. One that is named twice counts twice. */
export const MAX_MEMBERS = 500

/** The ids that an action refers to, each with its field. */
const referencesOf = (action: Action): ReadonlyArray<{ readonly key: string; readonly id: string }> => [
  ...action.dependsOn.map((id) => ({ key: "depends_on", id })),
  ...membersOf(action).map((id) => ({ key: "actions", id })),
  ...action.onFailure === undefined ? [] : [{ key: "on_failure", id: action.onFailure }],
  ...action.condition === undefined ? [] : Conditions.actionsOf(action.condition).map((id) => ({ key: "condition", id })),
  ...outputsOf(action)
]

/** The ids whose outputs the fields of an action contain. */
const outputsOf = ({ params }: Action): ReadonlyArray<{ readonly key: string; readonly id: string }> =>
  [...params].flatMap(([key, value]) =>
    (typeof value === "string" ? [value] : [...value.values()]).flatMap((text) =>
      text.includes("$") ? Outputs.references(text).map((id) => ({ key, id })) : []))

/** Returns the ids of the actions that a composite action runs; none for another type. */
export const membersOf = ({ params, type }: Action): ReadonlyArray<string> => {
  const members = type === "composite" ? params.get("actions") : undefined
  if (members === undefined) return []
  const texts = typeof members === "string" ? members.split(",") : [...members.values()]
  return [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ""))]
}

/** Returns the members of a composite action, with those of its members, by id. */
export const membersBelow = (action: Action, byId: ReadonlyMap<string, Action>): ReadonlyMap<string, Action> => {
  const found = new Map<string, Action>()
  const open = [...membersOf(action)]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const member = byId.get(id)
    if (member === undefined || found.has(id)) continue
    found.set(id, member)
    open.push(...membersOf(member))
  }
  return found
}

/**
 * Returns the ids of the actions that others run: the members of composite actions, and the targets of `on_failure`. Such
 * an action without a schedule does not run by itself.
 */
export const calledBy = (actions: ReadonlyArray<Action>): ReadonlySet<string> => new Set(actions.flatMap(calledOf))

/** The ids of the actions that an action runs: its members, and the one of `on_failure`. */
const calledOf = (action: Action): ReadonlyArray<string> =>
  action.onFailure === undefined ? membersOf(action) : [...membersOf(action), action.onFailure]

/**
 * Checks the references of all actions. An action has an error if it refers to an unknown action, is part of a cycle, or
 * needs an action with an error.
 */
export const resolve = (actions: ReadonlyArray<Action>, blocks: ReadonlyArray<Block>): Resolution => {
  const resolver = new Resolver(actions, blocks)
  resolver.run()
  return { actions: actions.filter(({ id }) => !resolver.broken.has(id)), findings: resolver.findings }
}

/** A reference from an action, by one of its fields. */
interface Reference {
  readonly action: Action
  readonly key: string
  readonly id: string
}

/** Takes the actions in the order of their dependencies. Actions that remain are in a cycle, or need one. */
class Resolver {
  readonly findings: Array<Finding> = []
  readonly broken = new Set<string>()
  private readonly actions: ReadonlyArray<Action>
  private readonly byId: ReadonlyMap<string, Action>
  private readonly known: ReadonlySet<string>
  /** The number of needed actions that are not taken yet, for each action that is not taken yet. */
  private readonly open = new Map<string, number>()
  private readonly dependents = new Map<string, Array<Action>>()
  private readonly ready: Array<Action> = []
  /** The number of members of each taken action. */
  private readonly sizes = new Map<string, number>()

  constructor(actions: ReadonlyArray<Action>, blocks: ReadonlyArray<Block>) {
    this.actions = actions
    this.byId = new Map(actions.map((action) => [action.id, action]))
    this.known = new Set(blocks.map(({ id }) => id))
    for (const { id } of blocks) if (!this.byId.has(id)) this.broken.add(id)
  }

  run(): void {
    for (const action of this.actions) this.count(action)
    for (const action of this.actions) {
      this.takeReady()
      if (!this.open.has(action.id)) continue
      const cycle = this.cycleFrom(action)
      for (const each of cycle) this.refuseCycle(each, cycle)
      for (const each of cycle) this.take(each)
    }
    this.takeReady()
    const sound = this.actions.filter(({ id }) => !this.broken.has(id))
    for (const circle of CallCircles.find(sound, calledOf)) for (const each of circle) this.refuseCycle(each, circle)
  }

  private count(action: Action): void {
    for (const { id, key } of referencesOf(action)) if (!this.known.has(id)) this.refuseUnknown({ action, key, id })
    const needed = this.needed(action)
    this.open.set(action.id, needed.length)
    for (const { id } of needed) {
      const others = this.dependents.get(id) ?? []
      this.dependents.set(id, others)
      others.push(action)
    }
    if (needed.length === 0) this.ready.push(action)
  }

  private needed(action: Action): ReadonlyArray<Action> {
    return neededBy(action).flatMap((id) => this.byId.get(id) ?? [])
  }

  private takeReady(): void {
    for (let action = this.ready.pop(); action !== undefined; action = this.ready.pop()) this.take(action)
  }

  private take(action: Action): void {
    if (!this.open.delete(action.id)) return
    const wrong = neededBy(action).find((id) => this.broken.has(id) && this.known.has(id))
    if (wrong !== undefined && !this.broken.has(action.id)) this.refuseBroken(action, wrong)
    const size = membersOf(action).reduce((sum, id) => sum + 1 + (this.sizes.get(id) ?? 0), 0)
    this.sizes.set(action.id, Math.min(size, MAX_MEMBERS))
    if (size > MAX_MEMBERS && !this.broken.has(action.id)) this.refuseSize(action)
    for (const dependent of this.dependents.get(action.id) ?? []) {
      const left = (this.open.get(dependent.id) ?? 0) - 1
      if (!this.open.has(dependent.id)) continue
      this.open.set(dependent.id, left)
      if (left === 0) this.ready.push(dependent)
    }
  }

  /** Follows open dependencies until an action comes again. Each open action needs another open one. */
  private cycleFrom(action: Action): ReadonlyArray<Action> {
    const places = new Map<string, number>()
    const path: Array<Action> = []
    let next: Action | undefined = action
    while (next !== undefined && !places.has(next.id)) {
      places.set(next.id, path.length)
      path.push(next)
      next = this.needed(next).find(({ id }) => this.open.has(id))
    }
    return path.slice(places.get(next?.id ?? "") ?? 0)
  }

  private report({ action, key }: Pick<Reference, "action" | "key">, finding: Pick<Finding, "code" | "message" | "suggestion">): void {
    const { block } = action
    this.broken.add(action.id)
    this.findings.push({ ...finding, offset: field(block, key)?.valueSpan.start ?? block.heading.start, block: block.index })
  }

  private refuseUnknown({ action, id, key }: Reference): void {
    const others = this.findings.length < MAX_SUGGESTIONS ? [...this.byId.keys()] : []
    const similar = closest(id, others.filter((other) => other !== action.id))
    this.report({ action, key }, {
      code: "agent/reference-unknown",
      message: `The action "${action.id}" refers to "${id.slice(0, 100)}" in ${key}, and no action has this id`,
      suggestion: similar === undefined ? "write the id of an action of this file" : `write ${similar}`
    })
  }

  private refuseBroken(action: Action, id: string): void {
    this.report({ action, key: action.dependsOn.includes(id) ? "depends_on" : "actions" }, {
      code: "agent/reference-broken",
      message: `The action "${action.id}" needs "${id}", which has an error`,
      suggestion: `correct the action "${id}"`
    })
  }

  private refuseSize(action: Action): void {
    this.report({ action, key: "actions" }, {
      code: "agent/field-invalid",
      message: `The action "${action.id}" runs more than ${MAX_MEMBERS} actions, with those of its members`,
      suggestion: "name each action in one composite action alone, or split this one"
    })
  }

  private refuseCycle(action: Action, cycle: ReadonlyArray<Action>): void {
    const names = [...cycle, ...cycle.slice(0, 1)].map(({ id }) => id)
    const shown = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), "…"] : names
    const key = ["depends_on", "actions", "on_failure"].find((each) => field(action.block, each) !== undefined) ?? "actions"
    this.report({ action, key }, {
      code: "agent/dependency-cycle",
      message: `The actions need each other in a circle: ${shown.join(" → ")}`,
      suggestion: "remove one of these dependencies"
    })
  }
}

/** The maximum number of unknown references for which a similar id is searched. */
const MAX_SUGGESTIONS = 20

/** The maximum number of actions that a message about a cycle names. */
const MAX_NAMES = 20

/** The ids of the actions that have to end before an action, or as parts of it. */
const neededBy = (action: Action): ReadonlyArray<string> => [...action.dependsOn, ...membersOf(action)]
