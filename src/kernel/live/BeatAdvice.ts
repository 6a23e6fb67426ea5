/**
 * The reports of a development host on a beat: signals that no enzyme takes, and values that do not fit their types.
 *
 * Both are lawful, so no other host looks for them, and they are in no cell.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Nearest from "../../cell/Nearest.ts"
import * as Pattern from "../../cell/Pattern.ts"
import { CellMistyped } from "../../cell/Type.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import type { Entry } from "../../registry/Registry.ts"
import type { SpaceTypes } from "../../registry/SpaceTypes.ts"
import type { StagedDocument } from "../../stage/Stage.ts"
import type { CapturedSignal } from "../model/InFlight.ts"
import type { Signal } from "../model/Signal.ts"
import { type Active, typesOf } from "../model/SpaceSchema.ts"
import * as DiagnosticsCommit from "../beat/step/DiagnosticsCommit.ts"
import type { Executed } from "../beat/Phases.ts"

/** The domain of the runtime's own signals. No enzyme has to take them. */
const OWN = "/CEP:"

/**
 * The reports on a beat with these changes.
 */
export const of = ({ captured }: Executed, changes: ReadonlyArray<StagedDocument>, active: Active): ReadonlyArray<Diagnostic.Diagnostic> =>
  [...unmatched(captured.inputs, active.enzymes.all()), ...mistyped(changes, captured.runs.map(({ key }) => key), typesOf(active))]

/** A report on each pair of a signal and a target that no enzyme takes. */
const unmatched = (inputs: ReadonlyArray<CapturedSignal>, entries: ReadonlyArray<Entry>): ReadonlyArray<Diagnostic.Diagnostic> => {
  const pairs = new Map<string, { readonly signal: Signal; count: number }>()
  for (const input of inputs) {
    const { signal } = input.flight
    if (!isUnmatched(input) || signal.signal?.startsWith(OWN) === true) continue
    const known = pairs.get(signal.pair)
    if (known === undefined) pairs.set(signal.pair, { signal, count: 1 })
    else known.count++
  }
  return [...pairs.values()].map(({ count, signal }) =>
    Diagnostic.of("signal/no-match", {
      origin: { kind: "runtime", name: "registry" },
      subject: signal.signal ?? DiagnosticsCommit.subjectOf(signal),
      note: `no enzyme takes ${nameOf(signal)}${count === 1 ? "" : `, nor ${count - 1} more like it`}; ${remedy(signal, entries)}`
    }))
}

const isUnmatched = ({ flight, handlings, heard, resolution }: CapturedSignal): boolean =>
  resolution.status === "no-match" && handlings.length === 0 && heard === undefined && flight.over.length === 0 && flight.open === 0 &&
  !flight.discarded

const nameOf = ({ event, id, own, signal, target }: Signal): string => {
  const named = signal === undefined ? `target ${target}` : target === undefined ? signal : `${signal} with target ${target}`
  return event ? `${named} (event ${Printable.event(id, own)})` : named
}

/** The nearest query; or the reason why an enzyme with a query of the signal does not take it. */
const remedy = ({ signal, target }: Signal, entries: ReadonlyArray<Entry>): string => {
  const list = "systole enzyme ls lists the queries"
  if (signal === undefined) return `${list}, and an enzyme takes a target at or below which it is bound`
  const names = signal.slice(1).split("/")
  const able = entries.find(({ mode, pattern }) => Pattern.matches(pattern, names, mode))
  if (able !== undefined) {
    const why = target === undefined ? "takes no signal without a target" : `is not bound at ${target} or above`
    return `"${able.enzyme.name}" has the query ${able.enzyme.query} and ${why}`
  }
  const nearest = Nearest.of(signal, entries.map(({ enzyme }) => enzyme.query))
  return nearest === undefined ? list : `the nearest query is ${nearest}`
}

/** A report on each document that fitted its type, or was absent, before a module wrote it without the type. */
const mistyped = (
  changes: ReadonlyArray<StagedDocument>,
  runs: ReadonlyArray<string>,
  types: SpaceTypes
): ReadonlyArray<Diagnostic.Diagnostic> => {
  if (types.all.length === 0) return []
  return changes.flatMap(({ address, after, before, writers }) => {
    const writer = writers.findLast((writer) => writer >= 0)
    const mistake = writer === undefined ? undefined : mistakeOf(address, after, types)
    if (mistake === undefined || writer === undefined || mistakeOf(address, before, types) !== undefined) return []
    const name = runs[writer]
    return Diagnostic.of("cell/type", {
      origin: name === undefined ? { kind: "runtime", name: "scheduler" } : { kind: "enzyme", name },
      subject: address,
      note: `${name === undefined ? "a node" : `"${name}"`} wrote ${address.text} without its type, and it is kept. ${mistake.message}`
    })
  })
}

const mistakeOf = (address: Address.Address, document: Document.Document | undefined, types: SpaceTypes): CellMistyped | undefined => {
  try {
    types.check(address, Document.read(document, []))
    return undefined
  } catch (error) {
    // A filter of a schema may throw. The beat is durable, and a report on it must not stop the space.
    return error instanceof CellMistyped ? error : undefined
  }
}
