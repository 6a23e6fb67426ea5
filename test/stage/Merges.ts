/**
 * Random beats, and the simplest account of what merging them has to give.
 *
 * The account knows neither documents nor addresses: it clones JSON, looks at
 * pairs of writes, and lets the winners write one after another.
 *
 * @module
 */
import { Arbitrary, Schema } from "effect"
import * as Dice from "../support/Dice.ts"

/** Stands for undefined among values that are compared as texts. */
export const DELETED = "(deleted)"

export interface RandomWrite {
  readonly kind: "set" | "increment" | "append"
  readonly at: string
  readonly value: unknown
}

export interface RandomRun {
  readonly writes: ReadonlyArray<RandomWrite>
  readonly reads: ReadonlyArray<string>
  readonly serializable: boolean
}

export interface Script {
  readonly before: Readonly<Record<string, unknown>>
  readonly captured: Readonly<Record<string, unknown>>
  readonly runs: ReadonlyArray<RandomRun>
}

const keys = ["/a", "/b", "/b?scope=user:1"]
const paths = ["", "/n", "/l", "/l/0", "/l/1", "/l/2", "/o", "/o/p", "/o/q"]
const places = keys.flatMap((key) => paths.map((path) => path === "" ? key : `${key}#${path}`))

/** Values fit their places; only some indexes lie beyond their array. */
const valueAt = (place: string, draw: Dice.Dice): unknown => {
  const path = place.split("#")[1] ?? ""
  if (draw(5) === 0) return DELETED
  const o = { p: draw(2), q: draw(2) }
  if (path === "") return { l: [draw(2)], n: draw(2), o }
  if (path === "/l") return Array.from({ length: draw(4) }, () => draw(2))
  return path === "/o" ? o : draw(2)
}

const write = (draw: Dice.Dice): RandomWrite => {
  const key = keys[draw(keys.length)]!
  const kind = draw(6)
  if (kind === 0) return { kind: "increment", at: `${key}#/n`, value: 1 + draw(3) }
  if (kind === 1) return { kind: "append", at: `${key}#/l`, value: draw(9) }
  if (kind === 2) return { kind: "increment", at: `${key}#/l/${["0", "1", "2", "-"][draw(4)]!}`, value: 1 }
  const at = `${key}${["", "#/n", "#/l", "#/l/0", "#/l/1", "#/l/2", "#/l/-", "#/o", "#/o/p", "#/o/q"][draw(10)]!}`
  return { kind: "set", at, value: valueAt(at, draw) }
}

const some = <A>(draw: Dice.Dice, bound: number, make: () => A): ReadonlyArray<A> => Array.from({ length: draw(bound) }, make)

const build = (seed: number): Script => {
  const draw = Dice.make(seed)
  const documents = (chance: number) => Object.fromEntries(keys.filter(() => draw(chance) === 0).map((key) => [key, { l: [7, 8], n: 5, o: { p: 1 } }]))
  return {
    before: documents(2),
    captured: documents(4),
    runs: some(draw, 6, () => ({
      writes: some(draw, 5, () => write(draw)),
      reads: some(draw, 3, () => places[draw(places.length)]!),
      serializable: draw(2) === 0
    }))
  }
}

/** Beats of a few runs on a few places of a few documents, so that they meet often. */
export const runsOf = Arbitrary.schema(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 })))).pipe(Arbitrary.map(build))

const split = (at: string): readonly [key: string, path: ReadonlyArray<string>] => {
  const [key = "", path = ""] = at.split("#")
  return [key, path.split("/").slice(1)]
}

const meet = (a: string, b: string): boolean => {
  const [keyA, pathA] = split(a)
  const [keyB, pathB] = split(b)
  return keyA === keyB && pathA.every((part, i) => i >= pathB.length || part === pathB[i])
}

/** A write, and where it changes something as the run saw the documents. */
interface Placed extends RandomWrite {
  readonly reach: string
}

const contradict = (a: Placed, b: Placed): boolean => {
  if (!meet(a.reach, b.reach)) return false
  if (a.kind !== b.kind || a.at !== b.at || a.reach !== a.at || b.reach !== b.at) return true
  return a.kind === "set" && JSON.stringify(a.value) !== JSON.stringify(b.value)
}

type Documents = Map<string, any>

const deletes = ({ kind, value }: RandomWrite): boolean => kind === "set" && value === DELETED

const indexIn = (array: ReadonlyArray<unknown>, part: string): number => part === "-" ? array.length : Number(part)

/** Arrays lie at `/l` alone. To remove or insert an item there is to write all of it; `undefined` where the write cannot be done. */
const placed = (documents: Documents, write: RandomWrite): Placed | undefined => {
  const [key, [first, item]] = split(write.at)
  const list = first === "l" ? documents.get(key)?.l : undefined
  if (write.kind === "append") return list === undefined || Array.isArray(list) ? { ...write, reach: write.at } : undefined
  if (!Array.isArray(list) || item === undefined) return { ...write, reach: write.at }
  const index = indexIn(list, item)
  if (!deletes(write) && index > list.length) return undefined
  return { ...write, reach: deletes(write) === index < list.length ? `${key}#/l` : write.at }
}

const perform = (documents: Documents, write: RandomWrite): void => {
  const { kind, value } = write
  const [key, path] = split(write.at)
  const root = { document: structuredClone(documents.get(key)) }
  let holder: any = root
  let last: string | number = "document"
  for (const part of path) {
    if (holder[last] === undefined && deletes(write)) return
    holder = holder[last] ??= {}
    last = Array.isArray(holder) ? indexIn(holder, part) : part
  }
  if (kind === "increment") holder[last] = (holder[last] ?? 0) + (value as number)
  else if (kind === "append") holder[last] = [...holder[last] ?? [], value]
  else if (!deletes(write)) holder[last] = value
  else if (Array.isArray(holder)) holder.splice(last as number, 1)
  else delete holder[last]
  documents.set(key, root.document)
}

/** The writes of a run as it sees the documents, its own writes included; `undefined` for those that it is refused. */
const made = (documents: Documents, writes: ReadonlyArray<RandomWrite>): ReadonlyArray<Placed | undefined> => {
  const seen: Documents = new Map(documents)
  return writes.map((write) => {
    const made = placed(seen, write)
    if (made !== undefined) perform(seen, made)
    return made
  })
}

/** What each run was refused and what it lost, and what the documents hold once the winners wrote one after another. */
export const serially = ({ before, captured, runs }: Script) => {
  const start: Documents = new Map(Object.entries({ ...before, ...captured }))
  const documents: Documents = new Map(start)
  const done: Array<Placed> = []
  const outcomes = runs.map((run) => {
    const all = made(start, run.writes)
    const writes = all.filter((write) => write !== undefined)
    const written = [...new Set(writes.map(({ at }) => split(at)[0]))]
    const refused = all.map((write) => write === undefined)
    const beaten = written.find((key) => writes.some((write) => split(write.at)[0] === key && done.some((earlier) => contradict(earlier, write))))
    const overtaken = run.serializable ? run.reads.find((read) => done.some((earlier) => meet(earlier.reach, read))) : undefined
    const at = beaten ?? overtaken
    if (at !== undefined) return { refused, lost: split(at)[0] }
    for (const write of writes) perform(documents, write)
    done.push(...writes)
    return { refused, lost: undefined }
  })
  return { outcomes, keys, after: (key: string): unknown => documents.get(key) }
}
