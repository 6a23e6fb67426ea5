/**
 * Lost beats: those that a space ran and did not make durable, in memory until the journal has a record of them.
 *
 * A space that stops may have run beats that are not durable. Only this process knows of them: the failed store cannot be
 * written.
 *
 * The first beat after the recovery takes it as a command, so a replay has it, too. It
 * writes the diagnostic of the failure. The lost numbers are not used again, and
 * `/rt/beat/<N>/state` shows `ist:fail` for them.
 *
 * A process that ends leaves no record. Its beats without a flush are unknown, and their
 * numbers are used again.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { LossNote, LossTopic, QueuedCommand } from "../model/Command.ts"
import * as Journal from "./Journal.ts"

/** The state of a lost beat. */
export const FAILED = "ist:fail"

/** The failure of a flush, and the newest beat that the space had run by then. */
export interface Loss {
  readonly topic: LossTopic
  /** The code of the failure. */
  readonly code: string
  readonly newest: number
}

/** The lost beats of the spaces of one kernel, until a beat that journals them is durable. */
export class LostBeats {
  private readonly bySpace = new Map<string, Loss>()

  of(space: string): Loss | undefined {
    return this.bySpace.get(space)
  }

  /** Adds a loss, if there is one. A space that stops again before it has journaled the previous one keeps the newer failure. */
  add(space: string, loss: Loss | undefined): void {
    if (loss !== undefined) this.bySpace.set(space, { ...loss, newest: Math.max(loss.newest, this.newest(space)) })
  }

  /** Removes the loss of a space, which is journaled durably or was removed with its space. */
  journaled(space: string): void {
    this.bySpace.delete(space)
  }

  /** The newest lost beat of a space; -1 if it lost none. */
  newest(space: string): number {
    return this.bySpace.get(space)?.newest ?? -1
  }
}

/** The lost beats of a kernel, and the store of the space that may have one. */
interface Source {
  readonly space: string
  readonly lost: Pick<LostBeats, "journaled" | "of">
  readonly store: Pick<SpaceStore, "head">
}

/** The lost numbers after the newest durable beat. */
const lostAfter = (head: number, newest: number): LossNote["beats"] => newest > head ? [head + 1, newest] : []

/**
 * The command that notes the loss of a recovered space; `undefined` if it has none. The loss is forgotten once the command
 * is durable.
 */
export const note = ({ lost, space, store }: Source): QueuedCommand | undefined => {
  const loss = lost.of(space)
  if (loss === undefined) return undefined
  const { code, newest, topic } = loss
  return {
    command: { kind: "lost", topic, code, beats: lostAfter(store.head().beat, newest) },
    answer: (answer) => {
      if ("beat" in answer) lost.journaled(space)
    }
  }
}

/** The diagnostic of a loss. */
export const fact = ({ beats: [first, last], code, topic }: LossNote): Diagnostic.Diagnostic => {
  const origin = { kind: "runtime", name: "persistence" } as const
  if (first === undefined) return Diagnostic.of(topic, { code, note: "a flush failed, and no beat was lost", origin, subject: undefined })
  return Diagnostic.of(topic, {
    code,
    note: first === last ? `beat ${first} was lost with its flush` : `beats ${first} to ${last} were lost with their flush`,
    origin,
    subject: Address.make(`/rt/beat/${first}/state`),
    payload: Document.encode({ state: FAILED, first, last })
  })
}

/** A lost beat, as its view shows it. */
export interface LostBeat {
  readonly state: typeof FAILED
  readonly topic: string
  readonly code: string
}

/**
 * The loss of a beat without a journal row, from the row after it or from the lost beats of the kernel; `undefined` if the beat
 * is not lost.
 */
export const find = (beat: number, store: Pick<SpaceStore, "head" | "scanJournal">, loss: Loss | undefined): LostBeat | undefined => {
  for (const row of store.scanJournal(beat + 1, Infinity)) {
    for (const line of Journal.parse(row.text).control ?? []) {
      if (line[0] !== "lost") continue
      const [, topic, code, first = Infinity, last = -1] = line as Extract<typeof line, readonly ["lost", ...ReadonlyArray<unknown>]>
      if (first <= beat && beat <= last) return { state: FAILED, topic, code } as LostBeat
    }
    return undefined
  }
  if (loss === undefined || beat <= store.head().beat || beat > loss.newest) return undefined
  return { state: FAILED, topic: loss.topic, code: loss.code }
}
