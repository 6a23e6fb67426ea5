/**
 * Compares the index of finished records with the stored records.
 *
 * @module
 */
import { Effect } from "effect"
import type { Space } from "systole"
import * as Document from "../../src/cell/Document.ts"
import * as Instance from "../../src/flow/Instance.ts"
import * as Entry from "../../src/rendezvous/Entry.ts"

/** The stored documents of a space, by address. */
export type Cells = ReadonlyMap<string, string>

const read = (text: string): never => Document.read(Document.decode(text), []) as never

const isFinished = (text: string): boolean => {
  const entry = Entry.read(read(text))
  return entry !== undefined && Entry.isFinished(entry)
}
const isOver = (text: string): boolean => {
  const instance = Instance.read(read(text))
  return instance !== undefined && Instance.isOver(instance)
}
const isClosed = (text: string): boolean => (read(text) as { readonly status?: string }).status !== undefined

/** The kinds of records that finish: their folder, the test for a finished one, and the folder of further documents. */
const kinds: Readonly<Record<string, { readonly folder: string; readonly isOver: (text: string) => boolean; readonly more: string }>> = {
  rv: { folder: "/data/rv", isOver: isFinished, more: "/data/inbox/flow/inst_event" },
  flow: { folder: "/data/flow/inst", isOver, more: "/data/flow/heard" },
  op: { folder: "/rt/ops", isOver: isClosed, more: "/rt/ops" },
  fact: { folder: "/data/mailbox/diag/msgs", isOver: () => true, more: "/data/mailbox/diag/msgs" }
}

/** The addresses below a cell. */
const below = (cells: Cells, folder: string): ReadonlyArray<string> => [...cells.keys()].filter((key) => key.startsWith(`${folder}/`))

/** The name of a record: the path segment after its folder. */
const nameIn = (folder: string, key: string): string => key.slice(folder.length + 1).replace(/\/.*/, "")

/** The indexed names of a kind. */
export const noted = (cells: Cells, kind: string): ReadonlyArray<string> =>
  below(cells, `/sys/index/over/${kind}`).flatMap(
    (key) => (read(cells.get(key)!) as { readonly names?: ReadonlyArray<string> }).names ?? []
  )

/** Differences of the index: finished records must be indexed, indexed records must exist, and expired ones must leave no documents. */
export const disagreements = (cells: Cells): ReadonlyArray<string> =>
  Object.entries(kinds).flatMap(([kind, { folder, isOver, more }]) => {
    const names = noted(cells, kind)
    const count = cells.get(`/sys/index/over/${kind}`) ?? "0"
    const there = below(cells, folder).filter((key) => !key.slice(folder.length + 1).includes("/"))
    const here = new Set(there.map((key) => nameIn(folder, key)))
    const ended = new Set(names)
    return [
      ...count === String(names.length) ? [] : [`${kind}: ${count} are counted and ${names.length} noted`],
      ...names.filter((name) => !here.has(name)).map((name) => `${kind}: ${name} is noted and not there`),
      ...there.filter((key) => isOver(cells.get(key)!) && !ended.has(nameIn(folder, key))).map(
        (key) => `${kind}: ${key} is over and not noted`
      ),
      ...below(cells, more).filter((key) => !here.has(nameIn(more, key))).map((key) => `${kind}: ${key} is left of what is gone`)
    ]
  })

/** The documents of a space. */
export const cells = (space: Space): Effect.Effect<Cells> =>
  Effect.orDie(space.examine(({ store }) => new Map(store.below("/", { limit: 100_000 }).map((key) => [key, store.read(key) ?? ""]))))
