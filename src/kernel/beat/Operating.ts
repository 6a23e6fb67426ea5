/**
 * Operating: where operations meet the beat.
 *
 * The folder of operations knows dossiers and watchers; here their verbs become
 * control input, what an advance sends becomes signals, and an enzyme that
 * awaits is bound at the operation's cell until its watcher is gone.
 * (Architecture, section 1.1, steps 3 and 10, and section 5.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Advanced, Sent } from "../../operation/Advance.ts"
import * as Dossier from "../../operation/Dossier.ts"
import { AwaitUnheard, InvalidOperation, OperationAbsent, OperationClosed, WatchersFull } from "../../operation/OperationError.ts"
import * as Verbs from "../../operation/Verbs.ts"
import * as Watches from "../../operation/Watches.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Binding, BindingTable, Lists } from "../../registry/Bindings.ts"
import type { Entry } from "../../registry/Registry.ts"
import { Draft } from "../../stage/Draft.ts"
import type { View } from "../../stage/Moment.ts"
import * as Envelope from "../../stage/Envelope.ts"
import { InvalidSignal } from "../../stage/Emission.ts"
import type { Operations, Pipeline } from "../../stage/Launch.ts"
import { COMMIT } from "../../stage/Stage.ts"
import type { OperationAsk, OperationRefused } from "../model/Ask.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import type { Body } from "./Body.ts"
import { below, type Documents } from "../model/Documents.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import * as Signal from "../model/Signal.ts"

/** The binding of an enzyme at a cell where it is to take what it awaits. */
const attentive = (enzyme: string, beat: number): Binding => ({ beat, enzyme, propagate: false, tombstone: false })

/**
 * The bindings that a signal is resolved with: an awaited one reaches the enzyme that awaits it, whose watcher is gone by then.
 *
 * @category getters
 * @since 0.1.0
 */
export const tableFor = (table: BindingTable, { awaits, target }: Pick<Signal.Signal, "awaits" | "target">): BindingTable =>
  awaits === undefined || target === undefined ? table : withAttention(table, target, awaits)

const withAttention = (table: BindingTable, cell: string, enzyme: string): BindingTable => ({
  get: (id) => id === cell ? [attentive(enzyme, -1), ...table.get(id) ?? []] : table.get(id)
})

/**
 * A run's face of operations.
 *
 * @category constructors
 * @since 0.1.0
 */
export const face = (work: BeatWork, { enzymes, watches }: Body, { enzyme }: Entry) => (draft: Draft): Operations =>
  Verbs.make(draft, {
    enzyme: enzyme.name,
    hears: (signal, target) => enzymes.resolve(signal, target, withAttention(work.table, target, enzyme.name)).status === "match",
    open: () => watches.size
  })

/** The run of a pipeline that an operation belongs to: its envelope is sealed, so it is the same whenever it is read. */
export const pipelineOf = (draft: Draft, target: string): Pipeline | undefined =>
  (draft.get(`${target}/envelope`) as { readonly pipeline?: Pipeline } | undefined)?.pipeline

/**
 * Does what the outside asks; answers the id of the operation, or why not.
 *
 * @category combinators
 * @since 0.1.0
 */
export const perform = (draft: Draft, ask: OperationAsk, { body, work }: { readonly body: Body; readonly work: BeatWork }): string | OperationRefused => {
  try {
    if (ask.verb === "start") return Verbs.start(draft, ask.request, ask.value)
    if (ask.verb === "state") Verbs.setState(draft, ask)
    else if (ask.verb === "close") Verbs.close(draft, { ...ask, summary: ask.value })
    else {
      Verbs.watch(draft, { ...ask, payload: ask.value }, {
        enzyme: Dossier.OUTSIDE,
        hears: (signal, target) => body.enzymes.resolve(signal, target, work.table).status === "match",
        open: () => body.watches.size
      })
    }
    return ask.oid
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

const refusals = [InvalidOperation, OperationAbsent, OperationClosed, AwaitUnheard, WatchersFull, InvalidSignal]

const isRefusal = (error: unknown): error is OperationRefused => refusals.some((refusal) => error instanceof refusal)

/**
 * Does something to operations at the commit, over what the runs have made of them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const amend = (work: BeatWork, change: (draft: Draft) => void): void => {
  const { stage } = work
  const newest: View = { committed: stage.committed, visible: (key) => stage.newest(key), children: (scope, id) => stage.merged(scope, id) }
  const draft = new Draft(newest, work.moment, { run: COMMIT, envelope: nothing, serializable: false })
  change(draft)
  draft.own?.keys.forEach((key, i) => stage.put(Address.ofKey(key), draft.own!.documents[i], COMMIT))
  if (draft.ops.length > 0) work.operations.merge(draft.ops, { run: COMMIT, depth: 0 })
}

const nothing = Envelope.make([], false)

/**
 * Closes operations with `sts:fail` at the commit, each with the code and note of why; those that are closed already stay as they are.
 *
 * @category combinators
 * @since 0.1.0
 */
export const fail = (work: BeatWork, failed: ReadonlyArray<{ readonly oid: string; readonly code: string; readonly note: string }>): void =>
  amend(work, (draft) => {
    for (const { code, note, oid } of failed) {
      const live = Dossier.live(draft.get(Dossier.address(oid).text))
      if (live !== undefined && live.status === undefined) Verbs.close(draft, { oid, status: "sts:fail", summary: Document.encode({ code, note }) })
    }
  })

/**
 * Step 10 for operations: what they send is queued, time-outs are told, and enzymes are bound where they begin to await.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (work: BeatWork, body: Body, queued: Array<Signal.Pending>): void => {
  if (!work.operates) return
  const advanced = work.operations.finish(work.due.flatMap(([oid, number]) => body.watches.get(oid, number) ?? []))
  work.advanced = advanced
  for (const { watch: { enzyme, oid, want }, why } of advanced.lost) {
    work.diagnostics.push(Diagnostic.of("ops/watchers", {
      code: `ops/${why}`,
      note: why === "timeout" ? `watcher timeout on oid=${oid} want=${want}` : `watcher of closed oid=${oid} can never have want=${want}`,
      origin: { kind: "enzyme", name: enzyme },
      subject: Dossier.address(oid)
    }))
  }
  for (const sent of advanced.sent) queued.push(new Signal.Pending(body.number(), signalOf(sent, work)))
  for (const { awaits, enzyme, oid } of advanced.attention) bind(work, { awaits, enzyme, cell: Dossier.address(oid).id })
}

/** What is awaited tells what the operation tells. */
const signalOf = ({ depth, enzyme, id, payload, signal, target }: Sent, { labels, moment: { beat } }: BeatWork): Signal.Signal => {
  const label = labels === undefined || target === undefined ? undefined : Signal.carried(labels.of(Address.ofKey(target)))
  return Signal.make({ id, signal, target, payload, at: undefined }, { origin: "run", depth, expected: beat + 1, to: undefined, awaits: enzyme, label })
}

/** Puts an enzyme's attention into a cell's list, or takes it out; a list that ends empty goes. */
const bind = (work: BeatWork, { awaits, cell, enzyme }: { readonly awaits: boolean; readonly cell: string; readonly enzyme: string }): void => {
  const list = work.table.get(cell) ?? []
  const rest = list.filter((binding) => binding.enzyme !== enzyme || binding.awaits !== true)
  work.put(cell, awaits ? [{ ...attentive(enzyme, work.moment.beat), awaits: true }, ...rest] : rest, COMMIT)
}

/**
 * What the store has taken of an advance becomes what is awaited from now on.
 *
 * @category combinators
 * @since 0.1.0
 */
export const apply = ({ gone, opened }: Advanced, { inbox, number, settings, watches }: Body): void => {
  for (const watch of gone) {
    watches.remove(watch)
    if (watch.deadline > 0) inbox.waits.drop()
  }
  for (const watch of opened) {
    watches.add(watch)
    wait(watch, { inbox, seq: number(), tempo: settings.tempo })
  }
}

/** A watcher with a deadline lies with all else that waits. */
const wait = (watch: Watches.Watch, { inbox, seq, tempo }: { readonly inbox: Inbox; readonly seq: number; readonly tempo: number }): void => {
  const { deadline, since } = watch
  if (deadline === 0) return
  const due = Signal.due({ beats: deadline - since.beat }, { ...since, tempo })
  inbox.waits.add({ seq, again: undefined, due, watch })
}

/**
 * The watchers that are open: each belongs to an operation whose cell has a list of bindings, so no other is looked at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const recall = (store: Pick<SpaceStore, "below">, documents: Documents, bindings: Lists): Watches.Watches => {
  const watches = new Watches.Watches()
  for (const cell of bindings.cells()) {
    if (!cell.startsWith(`${Dossier.FOLDER}/`)) continue
    const oid = cell.slice(Dossier.FOLDER.length + 1)
    const folder = `${cell}/watchers`
    for (const key of below(store, folder)) {
      const name = key.slice(folder.length + 1)
      if (name.includes("/")) continue
      watches.add(Watches.watch(oid, Dossier.numberOf(name), Document.read(documents.read(key), []) as unknown as Dossier.Watcher))
    }
  }
  return watches
}

/**
 * Has the watchers that were recalled wait for their deadlines.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resume = (watches: Watches.Watches, around: { readonly inbox: Inbox; readonly number: () => number; readonly tempo: number }): void => {
  for (const watch of watches.all()) wait(watch, { ...around, seq: around.number() })
}
