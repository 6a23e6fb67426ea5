/**
 * The registry: the active enzymes, and the resolution of impulses.
 *
 * Registrations and withdrawals take effect at the next capture of a beat, never within one. A target restricts an
 * impulse to the enzymes bound along its ancestors. Without a target, every enzyme with a matching query handles it [S0
 * §Matching and Determinism].
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import * as Address from "../cell/Address.ts"
import * as Pattern from "../cell/Pattern.ts"
import * as Envelope from "../stage/Envelope.ts"
import type { Binding, BindingTable } from "./Bindings.ts"
import * as Bindings from "./Bindings.ts"
import type { Enzyme } from "./Enzyme.ts"
import { InvalidEnzyme } from "./Enzyme.ts"
import { drop, groupedByName, push } from "./MultiMap.ts"
import type { Candidate } from "./Order.ts"
import * as ResolutionCache from "./ResolutionCache.ts"
import * as Order from "./Order.ts"
import { QueryTrie } from "./QueryTrie.ts"
import type { Provider } from "./Services.ts"

/**
 * The names of the enzymes that the configuration lets write the runtime's own cells.
 *
 * @category references
 * @since 0.1.0
 */
export const SystemGrants = Context.Reference<ReadonlySet<string>>("systole/registry/SystemGrants", { defaultValue: () => new Set() })

/** No enzyme is registered with exactly this descriptor. */
export class NotRegistered extends Data.TaggedError("NotRegistered")<{ readonly name: string }> {
  readonly code = "enzyme/unknown"
  override get message() {
    return `Enzyme "${this.name}" is not registered with exactly this descriptor. Withdraw the very object that was registered`
  }
}

/** The module of an enzyme. */
export interface Code {
  /** The digest of its text; empty for the stand-in of an enzyme with a file that fails to load. */
  readonly hash: string
  /** Its text, if it can be restored later. */
  readonly text?: string | undefined
  /** Its file in the project, if it has one. */
  readonly file?: string | undefined
  /** The providers of its services, if it takes some. */
  readonly services?: ReadonlyArray<Provider>
}

/**
 * An active enzyme.
 */
export interface Entry extends Candidate {
  readonly enzyme: Enzyme
  /** The key of its handlings in receipts: the enzyme's name, or its `id` if several matching enzymes share the name. */
  readonly key: string
  /** Identifies it among enzymes of the same name, by its query and mode only. */
  readonly id: string
  readonly pattern: Pattern.Pattern
  readonly mode: Pattern.Mode
  readonly lane: Lane
  readonly envelope: Envelope.Envelope
  /** The module of the enzyme, if it has one. */
  readonly code: Code | undefined
}

export type Lane = Enzyme["lane"]

/** The enzymes that handle an impulse, in order; or the reason why there are none. `held` means that only disabled enzymes match. */
export interface Resolution {
  readonly status: "match" | "no-match" | "cycle" | "held"
  readonly entries: ReadonlyArray<Entry>
  /** The coarsest lane that any of them declares. */
  readonly lane: Lane
  /** The names in a cycle, if there is one. */
  readonly cycle: ReadonlyArray<string>
  /** The disabled enzymes that would handle it, if any enzyme is disabled. */
  readonly leftOut?: (() => ReadonlyArray<Entry>) | undefined
}

const none: ReadonlyArray<Entry> = []
/** The domain of the ids of operations, by which the journal names the durable runs among the handlings of a signal. */
const OPERATIONS = "OPS:"
const nobody: Resolution = { status: "no-match", entries: none, lane: "pair", cycle: [] }
/** The maximum number of bindings that are examined one by one. */
const FEW = 4

const widths: Readonly<Record<Lane, number>> = { pair: 0, target: 1, space: 2 }

/**
 * The enzymes of a runtime.
 */
export class Enzymes {
  /** The number of registrations and withdrawals in effect. */
  version = 0
  /** The number of look-ups; a beat looks up each pair once. */
  resolutions = 0
  private readonly grants: ReadonlySet<string>
  private readonly trie = new QueryTrie<Entry>()
  private readonly byName = new Map<string, Array<Entry>>()
  private readonly declared = new Map<string, Map<string, Array<Binding & { readonly entry: Entry }>>>()
  /** The registered enzymes, including pending ones, by query. */
  private readonly byQuery = new Map<string, Array<Enzyme>>()
  /** Disabled enzymes: they handle no signals, and signals for them only are held. */
  private left: Enzymes | undefined
  /** Counts the changes that concern schedules. */
  scheduleVersion = 0
  private readonly brokenFiles = new Set<string>()
  private waiting: Array<{ readonly add: Entry } | { readonly remove: Entry }> = []
  private activated = 0
  private readonly caches = new WeakMap<BindingTable, ResolutionCache.ResolutionCache<Resolution>>()

  constructor(grants: ReadonlySet<string>) {
    this.grants = grants
  }

  /** Registers an enzyme from the next capture on. Throws `InvalidEnzyme`. */
  register(enzyme: Enzyme, code?: Code): void {
    const refuse = (reason: string) => new InvalidEnzyme({ name: enzyme.name, reason })
    const system = this.grants.has(enzyme.name)
    if (enzyme.name.startsWith(OPERATIONS)) throw refuse(`its name begins with ${OPERATIONS}, as the ids of operations do; choose another`)
    const naming = system ? undefined : Envelope.problemOf(enzyme.writes ?? [])
    if (naming !== undefined) throw refuse(`its envelope names ${naming}, which belongs to the runtime; write elsewhere`)
    // An exclusive enzyme is alone on its query, so checking the first one suffices.
    const rival = this.byQuery.get(enzyme.query)?.[0]
    if (rival !== undefined && (enzyme.exclusive || rival.exclusive)) {
      throw refuse(`the query ${enzyme.query} is exclusive, and "${rival.name}" is there already; withdraw one of the two`)
    }
    this.waiting.push({ add: this.entry(enzyme, code, system) })
    if (enzyme.schedule !== undefined) this.scheduleVersion++
    push(this.byQuery, enzyme.query, enzyme)
  }

  /** Withdraws an enzyme from the next capture on. Throws {@link NotRegistered}. */
  unregister(enzyme: Enzyme): void {
    const isLeaving = (entry: Entry) => this.waiting.some((change) => "remove" in change && change.remove === entry)
    if (this.left?.has(enzyme) === true) {
      this.left.unregister(enzyme)
      return this.leftOutChanged()
    }
    if (enzyme.schedule !== undefined) this.scheduleVersion++
    const active = this.byName.get(enzyme.name)?.find((entry) => sameDescriptor(entry.enzyme, enzyme) && !isLeaving(entry))
    const isPending = (change: (typeof this.waiting)[number]) => "add" in change && sameDescriptor(change.add.enzyme, enzyme)
    const pending = active === undefined ? this.waiting.findIndex(isPending) : -1
    if (active !== undefined) this.waiting.push({ remove: active })
    else if (pending >= 0) this.waiting.splice(pending, 1)
    else throw new NotRegistered({ name: enzyme.name })
    const rest = this.byQuery.get(enzyme.query)!
    rest.splice(rest.findIndex((other) => sameDescriptor(other, enzyme)), 1)
    if (rest.length === 0) this.byQuery.delete(enzyme.query)
  }

  /** Disables an enzyme: it is known, and handles no signals. Throws `InvalidEnzyme`. */
  leaveOut(enzyme: Enzyme, code?: Code): void {
    const left = this.left ??= this.fresh()
    const known = left.active().find((entry) => entry.code?.file === code?.file && sameQuery(entry.enzyme, enzyme))
    if (known !== undefined && (!isStandIn(known.code) || isStandIn(code))) return
    if (known !== undefined) left.unregister(known.enzyme)
    left.register(enzyme, code)
    this.leftOutChanged()
  }

  /** Disables the enzymes of a file with a module that failed to load. */
  breaks(file: string): void {
    this.brokenFiles.add(file)
  }

  get hasBroken(): boolean { return this.brokenFiles.size > 0 }

  isBroken(file: string): boolean { return this.brokenFiles.has(file) }

  /** Removes the stand-ins for the enzymes of a file that was deleted or loads again. */
  mends(file: string): void {
    if (!this.brokenFiles.delete(file) || this.left === undefined) return
    for (const entry of this.left.active()) if (entry.code?.file === file && isStandIn(entry.code)) this.left.unregister(entry.enzyme)
    this.leftOutChanged()
  }

  private leftOutChanged(): void {
    this.left!.activate()
    this.version++
    this.scheduleVersion++
  }

  /** Returns the disabled enzymes. */
  leftOut(): ReadonlyArray<Entry> {
    return this.left?.active() ?? none
  }

  /** Whether any enzyme is disabled. */
  get leavesOut(): boolean {
    return this.left !== undefined
  }

  private has(enzyme: Enzyme): boolean {
    return this.byName.get(enzyme.name)?.some((entry) => sameDescriptor(entry.enzyme, enzyme)) === true
  }

  /** Identifies the state of the enzymes, including pending changes. */
  get revision(): number {
    return this.version + this.waiting.length
  }

  /** Applies pending registrations and withdrawals: the first step of a beat. Returns the number of changes. */
  activate(): number {
    const { waiting } = this
    if (waiting.length === 0) return 0
    this.waiting = []
    for (const change of waiting) "add" in change ? this.add(change.add) : this.remove(change.remove)
    this.version += waiting.length
    return waiting.length
  }

  /** Returns all active and pending enzymes without the withdrawn ones, in the order of their registration. */
  all(): ReadonlyArray<Entry> {
    const withdrawn = new Set(this.waiting.flatMap((change) => "remove" in change ? [change.remove] : []))
    const active = this.active().filter((entry) => !withdrawn.has(entry)).toSorted((a, b) => a.order - b.order)
    return [...active, ...this.waiting.flatMap((change) => "add" in change ? [change.add] : [])]
  }

  /** Returns the active enzymes by name, enzymes of one name in the order of their activation. */
  active(): ReadonlyArray<Entry> {
    return [...this.byName.values()].flat()
  }

  /** Creates an empty registry with the same grants. */
  fresh(): Enzymes {
    return new Enzymes(this.grants)
  }

  /** Resolves an impulse in a space with these bindings. */
  resolve(signal: string | undefined, target: string | undefined, bindings: BindingTable): Resolution {
    this.resolutions++
    const cache = this.cache(bindings)
    if (cache === undefined) return this.lookUp(signal, target, bindings)
    const place = target === undefined ? ResolutionCache.nowhere : this.place(Address.ofKey(target).id, bindings)
    const known = cache.get(signal, place)
    if (known !== undefined) return known
    const resolution = this.lookUp(signal, target, bindings)
    cache.put(signal, place, resolution)
    return resolution
  }

  private place(target: string, own: BindingTable): ResolutionCache.Place {
    const cell = Bindings.nearest(target, { own, declared: this.declared })
    return { cell, isBelow: cell !== target }
  }

  /** Returns the cache for a binding table that counts its changes. */
  private cache(bindings: BindingTable): ResolutionCache.ResolutionCache<Resolution> | undefined {
    if (bindings.version === undefined) return undefined
    const cache = this.caches.get(bindings)
    if (cache !== undefined && cache.enzymes === this.version && cache.bindings === bindings.version) return cache
    const fresh = new ResolutionCache.ResolutionCache<Resolution>(this.version, bindings.version)
    this.caches.set(bindings, fresh)
    return fresh
  }

  private lookUp(signal: string | undefined, target: string | undefined, bindings: BindingTable): Resolution {
    const names = signal?.slice(1).split("/")
    const candidates = target === undefined ? this.trie.match(names ?? []).filter(takesBroadcasts) : this.bound(target, names, bindings)
    const { left } = this
    const leftOut = left && (() => left.resolve(signal, target, bindings).entries)
    if (candidates.length === 0) return leftOut === undefined || leftOut().length === 0 ? nobody : { ...nobody, status: "held", leftOut }
    const arranged = candidates.length === 1 ? candidates : Order.arrange(candidates)
    if ("cycle" in arranged) return { status: "cycle", entries: none, lane: "pair", cycle: arranged.cycle, ...leftOut && { leftOut } }
    return { status: "match", entries: withKeys(arranged), lane: coarsest(arranged), cycle: [], ...leftOut && { leftOut } }
  }

  private bound(target: string, names: ReadonlyArray<string> | undefined, own: BindingTable): Array<Entry> {
    const cell = Address.ofKey(target).id
    const bound: Bindings.Bound = { own, declared: this.declared }
    // With many bindings, the few enzymes that match the signal are looked up instead.
    const takers = names !== undefined && Bindings.count(cell, bound) > FEW ? groupedByName(this.trie.match(names)) : undefined
    const found: Array<Entry> = []
    for (const name of Bindings.effective(cell, bound, takers)) {
      let best: Entry | undefined
      for (const entry of (takers ?? this.byName).get(name) ?? []) {
        if (names !== undefined && !Pattern.matches(entry.pattern, names, entry.mode)) continue
        if (best === undefined || Order.priority(entry, best) < 0) best = entry
      }
      if (best !== undefined) found.push(best)
    }
    return found
  }

  private entry(enzyme: Enzyme, code: Code | undefined, system: boolean): Entry {
    const pattern = Pattern.parse(enzyme.query)
    return {
      enzyme,
      name: enzyme.name,
      key: enzyme.name,
      id: `${enzyme.name}~${digest(`${enzyme.match} ${enzyme.query}`)}`,
      before: enzyme.before,
      after: enzyme.after,
      strength: 1,
      specificity: pattern.specificity,
      order: 0,
      pattern,
      mode: enzyme.match,
      lane: enzyme.lane,
      envelope: Envelope.make(enzyme.writes, system),
      code
    }
  }

  private add(registered: Entry): void {
    const entry = { ...registered, order: ++this.activated }
    this.trie.add(entry)
    push(this.byName, entry.name, entry)
    for (const { cell, propagate } of entry.enzyme.bind) {
      const here = this.declared.get(cell) ?? new Map()
      this.declared.set(cell, here)
      push(here, entry.name, { enzyme: entry.name, propagate, tombstone: false, beat: -1, entry })
    }
  }

  private remove(entry: Entry): void {
    this.trie.delete(entry)
    drop(this.byName, entry.name, (other) => other === entry)
    for (const { cell } of entry.enzyme.bind) {
      const here = this.declared.get(cell)
      if (here === undefined) continue
      drop(here, entry.name, (binding) => binding.entry === entry)
      if (here.size === 0) this.declared.delete(cell)
    }
  }
}

/**
 * The service with the registry of the runtime.
 *
 * @category services
 * @since 0.1.0
 */
export class Registry extends Context.Service<Registry, Enzymes>()("systole/registry/Registry") {
  static readonly layer: Layer.Layer<Registry> = Layer.effect(Registry, SystemGrants.useSync((grants) => new Enzymes(grants)))
}

const coarsest = (entries: ReadonlyArray<Entry>): Lane =>
  entries.reduce<Lane>((lane, entry) => widths[entry.lane] > widths[lane] ? entry.lane : lane, "pair")

/**
 * Returns the entry that continues a handling with a recorded key: the same enzyme, even if others share its name now.
 * Returns `undefined` if it is gone.
 */
export const successor = (
  { entries }: Pick<Resolution, "entries">,
  { id, key }: { readonly key: string; readonly id: string | undefined }
): Entry | undefined =>
  entries.find((entry) => entry.id === id && entry.key === key) ??
  entries.find((entry) => entry.id === id) ??
  entries.find((entry) => entry.key === key)

/** Gives entries that share a name their ids as keys, so that each keeps its receipt when the others are withdrawn. */
const withKeys = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  if (entries.length === 1) return entries
  const byName = new Map<string, number>()
  for (const { name } of entries) byName.set(name, (byName.get(name) ?? 0) + 1)
  if (byName.size === entries.length) return entries
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    if (byName.get(entry.name) === 1) return entry
    const nth = (seen.get(entry.id) ?? 0) + 1
    seen.set(entry.id, nth)
    return { ...entry, key: nth === 1 ? entry.id : `${entry.id}~${nth}` }
  })
}

/** FNV-1a: short, and equal on every host. */
const digest = (text: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}

const takesBroadcasts = ({ enzyme }: Entry): boolean => enzyme.target === undefined

const isStandIn = (code: Code | undefined): boolean => code?.hash === ""

const sameQuery = (a: Enzyme, b: Enzyme): boolean => a.name === b.name && a.query === b.query && a.match === b.match

const sameDescriptor = (a: Enzyme, b: Enzyme): boolean => {
  if (a === b || a.name !== b.name) return a === b
  const { declares: _, payload, run, ...rest } = a
  const { declares: _other, payload: otherPayload, run: otherRun, ...otherRest } = b
  return payload === otherPayload && run === otherRun && JSON.stringify(rest) === JSON.stringify(otherRest)
}
