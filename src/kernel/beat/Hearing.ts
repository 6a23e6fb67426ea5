/**
 * Signals that durable runs hear: the capture keeps them in cells of the runs, which then go on.
 *
 *     /rt/ops/<oid>/heard/<pair>/<nth>           { id, signal, target, label? }
 *     /rt/ops/<oid>/heard/<pair>/<nth>/payload   the payload
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import * as Codec from "../../cell/Document.ts"
import type { Label } from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import * as Dossier from "../../operation/Dossier.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import type { Heard } from "../inbox/WaitingRuns.ts"
import type { InFlight, Taken } from "../model/InFlight.ts"
import type { BeatTransaction } from "./BeatTransaction.ts"
import type { BeatInput } from "./BeatInput.ts"

/** The runs that heard a captured signal. */
export type HeardBy = ReadonlyMap<InFlight, ReadonlyArray<Heard>>

/** The place of a heard signal in a run. */
type Place = Omit<Heard, "isAwaited">

const nobody: HeardBy = new Map()

/** The cell of a heard signal. */
export const addressOf = ({ nth, oid, pair }: Place): Address.Address => Dossier.address(oid, "heard", String(pair), String(nth))

const payloadOf = ({ nth, oid, pair }: Place): Address.Address => Dossier.address(oid, "heard", String(pair), String(nth), "payload")

/** Step 4: keeps the captured signals that durable runs hear, and has these runs go on. */
export const capture = (taken: ReadonlyArray<Taken>, transaction: BeatTransaction, input: Pick<BeatInput, "hearers">): HeardBy => {
  let found: Map<InFlight, ReadonlyArray<Heard>> | undefined
  const { stage } = transaction
  const countOf = (oid: string, pair: number): number => stage.merged("space", Dossier.address(oid, "heard", String(pair)).id).length
  for (const { flight, pending } of taken) {
    if (pending.again !== undefined || pending.leaves || flight.discarded) continue
    const heard = input.hearers(flight, countOf)
    if (heard.length === 0) continue
    ;(found ??= new Map()).set(flight, heard)
    const { id, label, payload, signal, target } = flight.signal
    for (const by of heard) {
      stage.put(addressOf(by), Codec.encode({ id, signal, target, ...label === undefined ? {} : { label } }), CAPTURE)
      if (payload !== undefined) stage.put(payloadOf(by), payload, CAPTURE)
      if (by.isAwaited) transaction.resumed.push(by.oid)
    }
  }
  return found ?? nobody
}

/** A signal that a run heard, with its label. */
export interface HeardValue {
  readonly value: Value
  readonly label: Label
}

/** Reads a heard signal; `undefined` if the run has not heard it yet. */
export const read = (heard: Place, visible: (key: string) => Codec.Document | undefined): HeardValue | undefined => {
  const document = visible(addressOf(heard).key)
  if (document === undefined) return undefined
  const { label = [], ...signal } = Codec.read(document, []) as unknown as { readonly label?: Label }
  const payload = visible(payloadOf(heard).key)
  return { value: { ...signal, payload: Codec.read(payload, []) } as Value, label }
}
