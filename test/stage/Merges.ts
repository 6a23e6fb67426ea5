/**
 * Random beats, and a reference model of the merge.
 *
 * The model has neither documents nor addresses. It clones JSON, compares pairs of writes, and applies the winners'
 * writes one after another.
 *
 * @module
 */
import { Arbitrary, Schema } from "effect"
import * as Random from "../support/Random.ts"

/** Stands for undefined among values that are compared as texts. */
export const DELETED = "(deleted)"

export interface RandomWrite {
  readonly kind: "set" | "increment" | "append"
  readonly at: string
  readonly value: unknown
}

export interface RandomRead {
  readonly kind: "get" | "list"
  readonly at: string
}

export type Step = RandomRead | RandomWrite

export const isRead = (step: Step): step is RandomRead => step.kind === "get" || step.kind === "list"

export interface RandomRun {
  readonly steps: ReadonlyArray<Step>
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

/** Values fit their places; only some indexes are beyond the end of their array. */
const valueAt = (place: string, draw: Random.Random): unknown => {
  const path = place.split("#")[1] ?? ""
  if (draw(5) === 0) return DELETED
  const o = { p: draw(2), q: draw(2) }
  if (path === "") return { l: [draw(2)], n: draw(2), o }
  if (path === "/l") return Array.from({ length: draw(4) }, () => draw(2))
  return path === "/o" ? o : draw(2)
}

const write = (draw: Random.Random): RandomWrite => {
  const key = keys[draw(keys.length)]!
  const kind = draw(6)
  if (kind === 0) return { kind: "increment", at: `${key}#/n`, value: 1 + draw(3) }
  if (kind === 1) return { kind: "append", at: `${key}#/l`, value: draw(9) }
  if (kind === 2) return { kind: "increment", at: `${key}#/l/${["0", "1", "2", "-"][draw(4)]!}`, value: 1 }
  const at = `${key}${["", "#/n", "#/l", "#/l/0", "#/l/1", "#/l/2", "#/l/-", "#/o", "#/o/p", "#/o/q"][draw(10)]!}`
  return { kind: "set", at, value: valueAt(at, draw) }
}

/** Runs of one beat often make equal writes, and read places that others write. */
const step = (draw: Random.Random, pool: ReadonlyArray<RandomWrite>): Step => {
  const kind = draw(8)
  const shared = draw(4) === 0 ? undefined : pool[draw(pool.length)]!
  if (kind === 0) return { kind: "list", at: "/" }
  return kind < 4 ? { kind: "get", at: shared?.at ?? places[draw(places.length)]! } : shared ?? write(draw)
}

const some = <A>(draw: Random.Random, bound: number, make: () => A): ReadonlyArray<A> => Array.from({ length: draw(bound) }, make)

const build = (seed: number): Script => {
  const draw = Random.make(seed)
  const documents = (chance: number) =>
    Object.fromEntries(keys.filter(() => draw(chance) === 0).map((key) => [key, { l: [7, 8], n: 5, o: { p: 1 } }]))
  const pool = Array.from({ length: 1 + draw(4) }, () => write(draw))
  return {
    before: documents(2),
    captured: documents(4),
    runs: some(draw, 6, () => ({
      steps: some(draw, 7, () => step(draw, pool)),
      serializable: draw(2) === 0
    }))
  }
}

/** Beats of a few runs on a few places of a few documents, so that runs often conflict. */
export const runsOf = Arbitrary.schema(Schema.Int.pipe(Schema.check(Schema.isBetween({
  minimum: 0,
  maximum: 2 ** 31
})))).pipe(Arbitrary.map(build))

const split = (at: string): readonly [key: string, path: ReadonlyArray<string>] => {
  const [key = "", path = ""] = at.split("#")
  return [key, path.split("/").slice(1)]
}

const meet = (a: string, b: string): boolean => {
  const [keyA, pathA] = split(a)
  const [keyB, pathB] = split(b)
  return keyA === keyB && pathA.every((part, i) => i >= pathB.length || part === pathB[i])
}

/** A write, and the place that it changes in the documents that the run saw. */
interface Placed extends RandomWrite {
  readonly reach: string
}

const isPlain = (write: Placed): boolean => write.reach === write.at

const agree = (a: Placed, b: Placed): boolean =>
  a.kind === "set" && b.kind === "set" && a.at === b.at && isPlain(a) && isPlain(b) && JSON.stringify(a.value) === JSON.stringify(b.value)

const commute = (a: Placed, b: Placed): boolean => a.kind === b.kind && a.kind !== "set" && a.at === b.at && isPlain(a) && isPlain(b)

const contradict = (a: Placed, b: Placed): boolean => meet(a.reach, b.reach) && !agree(a, b) && !commute(a, b)

/** A read, and the run's writes until then. */
interface Look extends RandomRead {
  readonly own: ReadonlyArray<Placed>
}

const depth = (at: string): number => split(at)[1].length

const isWithin = (place: string, at: string): boolean => meet(place, at) && depth(at) <= depth(place)

/** Tests whether the run had set the whole place. */
const isOwn = (place: string, own: ReadonlyArray<Placed>): boolean => own.some(({ at, kind }) => kind === "set" && isWithin(place, at))

/** Tests whether a read observed the change of an earlier run. */
const knows = ({ at, kind, own }: Look, { reach }: Placed, comesOrGoes: (key: string) => boolean): boolean => {
  const [key] = split(reach)
  if (kind === "list") return !key.includes("?") && comesOrGoes(key) && !own.some((write) => split(write.at)[0] === key)
  return meet(at, reach) && !isOwn(depth(at) > depth(reach) ? at : reach, own)
}

type Documents = Map<string, any>

const deletes = ({ kind, value }: RandomWrite): boolean => kind === "set" && value === DELETED

const indexIn = (array: ReadonlyArray<unknown>, part: string): number => part === "-" ? array.length : Number(part)

/**
 * Arrays are only at `/l`. Removing or inserting an item is a write of the whole array. Returns `undefined` for an
 * impossible write.
 */
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

/** Returns the writes of a run on the documents that it sees, its refused writes, and its reads. */
const made = (documents: Documents, steps: ReadonlyArray<Step>) => {
  const seen: Documents = new Map(documents)
  const writes: Array<Placed> = []
  const looks: Array<Look> = []
  const refused: Array<boolean> = []
  for (const step of steps) {
    if (isRead(step)) {
      looks.push({ ...step, own: [...writes] })
      continue
    }
    const made = placed(seen, step)
    refused.push(made === undefined)
    if (made === undefined) continue
    perform(seen, made)
    writes.push(made)
  }
  return { looks, refused, writes }
}

/** Returns the refusals and conflicts of each run, and the documents after the winners' writes. */
export const serially = ({ before, captured, runs }: Script) => {
  const start: Documents = new Map(Object.entries({ ...before, ...captured }))
  const documents: Documents = new Map(start)
  const done: Array<Placed> = []
  const touched = new Set(Object.keys(captured))
  const comesOrGoes = (key: string): boolean => (start.get(key) === undefined) !== (documents.get(key) === undefined)
  const outcomes = runs.map((run) => {
    const { looks, refused, writes } = made(start, run.steps)
    const written = new Set(writes.map(({ at }) => split(at)[0]))
    const isLost = (key: string): boolean => {
      const here = writes.filter(({ at }) => split(at)[0] === key)
      if (here.some((write) => done.some((earlier) => contradict(earlier, write)))) return true
      const agreed = done.filter((earlier) => here.some((write) => agree(earlier, write)))
      return agreed.some((earlier) => looks.some((look) => knows(look, earlier, comesOrGoes)))
    }
    const overtaken = (look: Look): string | undefined =>
      [...touched].find((key) => done.some((earlier) => split(earlier.at)[0] === key && knows(look, earlier, comesOrGoes)))
    const lost = [...written].find(isLost) ?? (run.serializable ? looks.map(overtaken).find((key) => key !== undefined) : undefined)
    if (lost !== undefined) return { refused, lost }
    for (const write of writes) perform(documents, write)
    for (const key of written) touched.add(key)
    done.push(...writes)
    return { refused, lost: undefined }
  })
  return { outcomes, keys, after: (key: string): unknown => documents.get(key) }
}
