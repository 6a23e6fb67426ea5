/**
 * The list of a runtime's ledgers, with the tables that a beat needs of all.
 *
 * @module
 */
import * as Envelope from "../stage/Envelope.ts"
import { Interest, LETTER } from "../stage/write/Interest.ts"
import * as Ledgers from "../stage/Ledgers.ts"
import type { ExpiryRule } from "./Expiry.ts"
import type { Capturing, InputRule, Kinds, Ledger, Opening, ResumptionRule, RollbackRule, UrgentTimers } from "./Ledger.ts"
import { CellLocked, type RefusalClass } from "./LedgerError.ts"

/** A ledger and its place in the list. */
export interface Placed {
  readonly ledger: Ledger
  readonly place: number
}

/** The input rule of a ledger, and the ledger's place. */
export interface PlacedInput {
  readonly rule: InputRule<Kinds>
  readonly place: number
  /** Whether the ledger processes an input at the capture. */
  readonly isTaken: (input: unknown) => boolean
}

/** The rollback rule of a ledger. */
export interface PlacedRollback {
  readonly placed: Placed
  readonly rule: RollbackRule<Kinds>
}

/** The rule of the ledger of durable runs, and the ledger's place. */
export interface PlacedResumption {
  readonly rule: ResumptionRule<Kinds>
  readonly place: number
}

/** States or inputs, each at the place of its ledger. */
export type ByPlace = ReadonlyArray<unknown>

const none: ByPlace = []

const never = (): boolean => false
const always = (input: unknown): boolean => input !== undefined

/** Names of the kernel's commands, of authors of ids, and of journal fields: a ledger with one of them would be ambiguous. */
const RESERVED: ReadonlySet<string> = new Set(["x", "c", "cei", "dead"])

/** The most ledgers of a list: each has a bit in the masks of a beat. */
const MAX_LEDGERS = 30

const ledgerName = /^[a-z]{1,32}$/

/** The first text that a list has twice. */
const repeated = (texts: ReadonlyArray<string>): string | undefined => texts.find((text, i) => texts.indexOf(text) !== i)

/** The first folder of a list that is another one of it, or lies within another. */
const nested = (folders: ReadonlyArray<string>): string | undefined =>
  repeated(folders) ?? folders.find((folder) => folders.some((other) => folder.startsWith(`${other}/`)))

const fail = (reason: string): never => {
  throw new Error(reason)
}

/** Throws if a beat could not distinguish these ledgers, or if users could write their documents. */
const check = (ledgers: ReadonlyArray<Ledger>): void => {
  const folders = ledgers.flatMap(({ expiry, folders }) => [...folders, ...expiry?.folders ?? []])
  const open = folders.find((folder) => !Envelope.isReserved(folder))
  const short = folders.find((folder) => folder.length <= LETTER)
  const shared = nested(ledgers.map(({ folders: [home] }) => home))
  const field = repeated(ledgers.flatMap(({ input }) => input?.field ?? []))
  const reserved = ledgers.find(({ name }) => RESERVED.has(name) || !ledgerName.test(name))
  const kind = repeated(ledgers.flatMap(({ expiry }) => expiry?.kind ?? []))
  const order = repeated(ledgers.flatMap(({ expiry }) => expiry === undefined ? [] : String(expiry.order)))
  if (repeated(ledgers.map(({ name }) => name)) !== undefined) fail("two ledgers have one name")
  if (reserved !== undefined) fail(`a ledger has the name ${JSON.stringify(reserved.name)}. Choose another one of the letters a-z`)
  if (ledgers.length > MAX_LEDGERS) fail(`there are ${ledgers.length} ledgers, and the limit is ${MAX_LEDGERS}`)
  if (ledgers.filter(({ urgentTimers }) => urgentTimers !== undefined).length > 1) fail("the timers of two ledgers are urgent")
  if (ledgers.filter(({ resumption }) => resumption !== undefined).length > 1) fail("two ledgers note the durable runs that go on")
  if (open !== undefined) {
    fail(`a ledger has its documents below ${open}, where users write. Choose a cell that belongs to the runtime`)
  }
  if (short !== undefined) fail(`a ledger has its documents below ${short}, which has under ${LETTER + 1} characters. Choose a longer name`)
  if (shared !== undefined) fail(`two ledgers have their documents below ${shared}`)
  if (field !== undefined) fail(`two ledgers capture input as ${field}`)
  if (kind !== undefined) fail(`two ledgers have finished records of the kind ${kind}`)
  if (order !== undefined) fail(`the finished records of two ledgers have the place ${order}. Choose the next one that is free`)
}

/**
 * Several ledgers, in the order in which a beat advances them.
 */
export class LedgerList {
  readonly all: ReadonlyArray<Placed>
  readonly interest: Interest
  readonly refusals: ReadonlyArray<RefusalClass>
  /** The expiry rules of all, in the order of the journal. */
  readonly expiry: ReadonlyArray<ExpiryRule>
  readonly inputs: ReadonlyArray<PlacedInput>
  /** The rule of the one ledger whose timers run while the space is paused. */
  readonly urgentTimers: UrgentTimers | undefined
  /** The ledgers with records that a rollback concerns. */
  readonly rolledBack: ReadonlyArray<PlacedRollback>
  /** The rule of the one ledger of durable runs. */
  readonly resumption: PlacedResumption | undefined
  /** The cells below which users configure ledgers. */
  readonly configured: ReadonlyArray<string>
  /** The first folder of each. */
  private readonly homes: Interest
  private readonly byName: ReadonlyMap<string, Placed>

  /**
   * Throws where ledgers share a name, a first folder, a field, a kind or its place, or where several have urgent timers. It
   * throws, too, where users can write to a folder, where a folder has under 7 characters, or over 30 ledgers.
   */
  constructor(ledgers: ReadonlyArray<Ledger>) {
    check(ledgers)
    for (const { name } of ledgers) Ledgers.add(name)
    this.all = ledgers.map((ledger, place) => ({ ledger, place }))
    this.byName = new Map(this.all.map((placed) => [placed.ledger.name, placed]))
    this.interest = new Interest(ledgers.map(({ folders }) => folders))
    this.homes = new Interest(ledgers.map(({ folders: [home] }) => [home]))
    this.configured = ledgers.flatMap(({ configuration }) => configuration ?? [])
    this.rolledBack = this.all.flatMap((placed) => {
      const { rollback } = placed.ledger
      return rollback === undefined ? [] : [{ placed, rule: rollback }]
    })
    this.resumption = this.all.flatMap(({ ledger: { resumption: rule }, place }) => rule === undefined ? [] : [{ rule, place }])[0]
    this.refusals = [CellLocked, ...ledgers.flatMap(({ refusals }) => refusals)]
    this.expiry = ledgers.flatMap(({ expiry }) => expiry ?? []).sort((a, b) => a.order - b.order)
    this.inputs = this.all.flatMap(({ ledger: { atCapture, input }, place }) =>
      input === undefined ? [] : [{ rule: input, place, isTaken: atCapture === undefined ? never : input.isTaken ?? always }])
    this.urgentTimers = ledgers.find(({ urgentTimers }) => urgentTimers !== undefined)?.urgentTimers
  }

  /** The ledger of a name. */
  named(name: string): Placed | undefined {
    return this.byName.get(name)
  }

  /** The ledger with a document below its first folder. */
  owner(key: string): Placed | undefined {
    const bits = this.homes.of(key)
    return this.all[31 - Math.clz32(bits & -bits)]
  }

  /** The states of all ledgers, from a store. */
  open(opening: Opening): ByPlace {
    return this.all.map(({ ledger }) => ledger.open(opening))
  }

  /** The state of one of them. Throws where the ledger is not in the list. */
  stateOf<L extends Kinds>({ name }: Ledger<L>, states: ByPlace): L["State"] {
    const placed = this.named(name)
    if (placed === undefined) throw new Error(`there is no ledger ${name}`)
    return states[placed.place]
  }

  /** The input of a beat. It stays with the ledgers until the beat is committed. */
  capture(states: ByPlace, capturing: Capturing): ByPlace {
    if (this.inputs.length === 0) return none
    // A plain loop, because every beat calls it.
    const inputs: Array<unknown> = []
    for (const { place, rule } of this.inputs) inputs[place] = rule.peek(states[place], capturing)
    return inputs
  }

  /** The input in a journal entry, by its fields. */
  recorded(valueOf: (field: string) => unknown): ByPlace {
    const inputs: Array<unknown> = []
    for (const { place, rule } of this.inputs) {
      const value = valueOf(rule.field)
      inputs[place] = value === undefined ? undefined : rule.decode(value)
    }
    return inputs
  }

  /** Whether the next beat waits for input that is on its way. */
  isAwaited(states: ByPlace): boolean {
    for (const { place, rule } of this.inputs) if (rule.isAwaited?.(states[place]) === true) return true
    return false
  }

  /** Whether an open space hears input that a closed one misses. */
  isExpected(states: ByPlace): boolean {
    for (const { place, rule } of this.inputs) if (rule.isExpected?.(states[place]) === true) return true
    return false
  }

  /** The time at which a live half begins delayed work, in milliseconds since 1970; `undefined` for none. */
  nextDue(states: ByPlace): number | undefined {
    let first: number | undefined
    for (const { place, rule } of this.inputs) {
      const due = rule.nextDue?.(states[place])
      if (due !== undefined && (first === undefined || due < first)) first = due
    }
    return first
  }

  /** Whether pending input requires a beat. */
  isWaiting(states: ByPlace, gated: boolean): boolean {
    for (const { place, rule } of this.inputs) if (rule.isWaiting(states[place], gated)) return true
    return false
  }

  /** Whether work in progress belongs to a record, by the key of its cell. */
  holds(states: ByPlace, key: string): boolean {
    for (const { ledger, place } of this.all) if (ledger.holds?.(states[place], key) === true) return true
    return false
  }

  /** Whether no ledger has work in progress outside the beat. */
  isResting(states: ByPlace): boolean {
    for (const { ledger, place } of this.all) if (ledger.quiescence?.isQuiet(states[place]) === false) return false
    return true
  }
}
