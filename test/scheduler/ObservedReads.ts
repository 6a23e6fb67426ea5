/**
 * Observed reads: the places that nodes read, as they were then and as they are now.
 *
 * @module
 */
import type { SpaceScheduler, Value } from "systole"
import { Address, Link } from "systole"
import { committed, type Look, type Model, type Spec, without } from "./ReferenceModel.ts"

/** The state that decides whether a read has changed: the resolved path, the links on it, and the value; for a shallow read, the keys. */
const sight = (scheduler: SpaceScheduler, [how, address]: Spec["log"][number], hops = 0): string => {
  const { locations } = scheduler.graph
  const [document = "", path = ""] = address.split("#")
  const keys = path.split("/").slice(1)
  let value = locations.whole(locations.root(document))
  for (let i = 0; ; i++) {
    if (Link.is(value)) {
      const target = Address.into(Link.target(value), keys.slice(i)).text
      return hops === Link.MAX_HOPS ? "in a ring" : `by ${target}, ${sight(scheduler, [how, target, undefined], hops + 1)}`
    }
    if (i === keys.length) break
    if (typeof value !== "object" || value === null) return `leads ${i} far`
    value = (value as Record<string, Value>)[keys[i]!]
  }
  return JSON.stringify(how === "keys" && typeof value === "object" && value !== null ? Object.keys(value) : value ?? null)
}

/** The same for a list: the names, except those that the node itself writes. */
const listed = (scheduler: SpaceScheduler, spec: Spec, [, address]: Look): string => {
  const id = address.slice(0, -2)
  return JSON.stringify(without(spec, id, committed(scheduler).list(id)))
}

/** Stores the reads of each node's newest run, and their changes since. */
export class ObservedReads {
  private readonly model: Model
  private readonly scheduler: SpaceScheduler
  private readonly looks = new Map<Spec, {
    readonly log: Spec["log"]
    readonly seen: ReadonlyArray<string>
    readonly changed: Set<number>
  }>()

  constructor(model: Model, scheduler: SpaceScheduler) {
    this.model = model
    this.scheduler = scheduler
  }

  /** Called after each possible change, at most once for each place. */
  note(): void {
    for (const spec of this.model.specs.values()) {
      const seen = spec.log.map((look) => look[0] === "list" ? listed(this.scheduler, spec, look) : sight(this.scheduler, look))
      const known = this.looks.get(spec)
      if (known?.log !== spec.log) this.looks.set(spec, { log: spec.log, seen, changed: new Set() })
      else for (const [i, now] of seen.entries()) if (now !== known.seen[i]) known.changed.add(i)
    }
  }

  /** The changed reads of a node, as text. */
  changes(spec: Spec): ReadonlyArray<string> {
    const { changed, log } = this.looks.get(spec)!
    return [...new Set([...changed].map((i) => log[i]![1]))]
  }
}
