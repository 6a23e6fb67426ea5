/**
 * The list of a runtime's ledgers, with the tables that a beat needs of all.
 *
 * @module
 */
import * as Envelope from "../stage/Envelope.ts"
import { Interest } from "../stage/Interest.ts"
import type { ExpiryRule } from "./Expiry.ts"
import type { Capturing, InputRule, Kinds, Ledger, Opening, UrgentTimers } from "./Ledger.ts"
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
  /** Whether the ledger processes its input at the capture. */
  readonly isTakenIn: boolean
}

/** States or inputs, each at the place of its ledger. */
export type ByPlace = ReadonlyArray<unknown>

const none: ByPlace = []

/** The most ledgers of a list: each has a bit in the masks of a beat. */
const MAX_LEDGERS = 30

/**
 * Several ledgers, in the order in which a beat advances them.
 *
 * @category models
 * @since 0.1.0
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
  private readonly byName: ReadonlyMap<string, Placed>

  /** Throws where ledgers share a name, where users can write to a folder of one, where several have urgent timers, or over 30 ledgers. */
  constructor(ledgers: ReadonlyArray<Ledger>) {
    this.all = ledgers.map((ledger, place) => ({ ledger, place }))
    this.byName = new Map(this.all.map((placed) => [placed.ledger.name, placed]))
    this.interest = new Interest(ledgers.map(({ folders }) => folders))
    this.refusals = [CellLocked, ...ledgers.flatMap(({ refusals }) => refusals)]
    this.expiry = ledgers.flatMap(({ expiry }) => expiry ?? []).sort((a, b) => a.order - b.order)
    this.inputs = this.all.flatMap(({ ledger: { atCapture, input }, place }) =>
      input === undefined ? [] : [{ rule: input, place, isTakenIn: atCapture !== undefined }])
    const urgent = ledgers.flatMap(({ urgentTimers }) => urgentTimers ?? [])
    this.urgentTimers = urgent[0]
    const open = ledgers.flatMap(({ folders }) => folders).find((folder) => !Envelope.isReserved(folder))
    const advice = "where users write. Choose a cell that belongs to the runtime"
    if (this.byName.size < ledgers.length) throw new Error("two ledgers have one name")
    if (ledgers.length > MAX_LEDGERS) throw new Error(`there are ${ledgers.length} ledgers, and the limit is ${MAX_LEDGERS}`)
    if (urgent.length > 1) throw new Error("the timers of two ledgers are urgent")
    if (open !== undefined) throw new Error(`a ledger has its documents below ${open}, ${advice}`)
  }

  /** The ledger of a name. */
  named(name: string): Placed | undefined {
    return this.byName.get(name)
  }

  /** The first ledger that claims a document. */
  owner(key: string): Placed | undefined {
    const bits = this.interest.of(key)
    return this.all[31 - Math.clz32(bits & -bits)]
  }

  /** The states of all ledgers, from a store. */
  open(opening: Opening): ByPlace {
    return this.all.map(({ ledger }) => ledger.open(opening))
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

  /** Whether pending input requires a beat. */
  isWaiting(states: ByPlace, gated: boolean): boolean {
    for (const { place, rule } of this.inputs) if (rule.isWaiting(states[place], gated)) return true
    return false
  }
}
