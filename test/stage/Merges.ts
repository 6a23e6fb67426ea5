/**
 * Random beats, and the simplest account of what merging them has to give.
 *
 * The account knows neither documents nor addresses: it clones JSON, looks at
 * pairs of writes, and lets the winners write one after another.
 *
 * @module
 */
import { Arbitrary, Schema } from "effect"

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
const paths = ["", "/n", "/l", "/o", "/o/p", "/o/q"]
const places = keys.flatMap((key) => paths.map((path) => path === "" ? key : `${key}#${path}`))

/** Values fit their places, so that no write is refused: what is refused is tested by itself. */
const valueAt = (place: string, draw: (bound: number) => number): unknown => {
  const path = place.split("#")[1] ?? ""
  if (draw(5) === 0) return DELETED
  const o = { p: draw(2), q: draw(2) }
  if (path === "") return { l: [draw(2)], n: draw(2), o }
  if (path === "/l") return [draw(2)]
  return path === "/o" ? o : draw(2)
}

const write = (draw: (bound: number) => number): RandomWrite => {
  const key = keys[draw(keys.length)]!
  const kind = draw(4)
  if (kind === 0) return { kind: "increment", at: `${key}#/n`, value: 1 + draw(3) }
  if (kind === 1) return { kind: "append", at: `${key}#/l`, value: draw(9) }
  const at = `${key}${["", "#/n", "#/l", "#/o", "#/o/p", "#/o/q"][draw(6)]!}`
  return { kind: "set", at, value: valueAt(at, draw) }
}

const some = <A>(draw: (bound: number) => number, bound: number, make: () => A): ReadonlyArray<A> => Array.from({ length: draw(bound) }, make)

/** Numbers from 0 up to a bound, the same for the same seed (mulberry32). */
const dice = (seed: number) => {
  let state = seed
  return (bound: number): number => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) % bound
  }
}

const build = (seed: number): Script => {
  const draw = dice(seed)
  const documents = (chance: number) => Object.fromEntries(keys.filter(() => draw(chance) === 0).map((key) => [key, { l: [7], n: 5, o: { p: 1 } }]))
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

const contradict = (a: RandomWrite, b: RandomWrite): boolean => {
  if (!meet(a.at, b.at)) return false
  if (a.kind !== b.kind || a.at !== b.at) return true
  return a.kind === "set" && JSON.stringify(a.value) !== JSON.stringify(b.value)
}

type Documents = Map<string, any>

const perform = (documents: Documents, { at, kind, value }: RandomWrite): void => {
  const [key, path] = split(at)
  const root = { document: structuredClone(documents.get(key)) }
  let holder: any = root
  let last = "document"
  for (const part of path) {
    if (holder[last] === undefined && kind === "set" && value === DELETED) return
    holder = holder[last] ??= {}
    last = part
  }
  if (kind === "increment") holder[last] = (holder[last] ?? 0) + (value as number)
  else if (kind === "append") holder[last] = [...holder[last] ?? [], value]
  else if (value === DELETED) delete holder[last]
  else holder[last] = value
  documents.set(key, root.document)
}

/** What each run lost, and what the documents hold once the winners wrote one after another. */
export const serially = ({ before, captured, runs }: Script) => {
  const documents: Documents = new Map(Object.entries({ ...before, ...captured }))
  const done: Array<RandomWrite> = []
  const lost = runs.map((run) => {
    const beaten = run.writes.find((write) => done.some((earlier) => contradict(earlier, write)))
    const overtaken = run.serializable ? run.reads.find((read) => done.some((earlier) => meet(earlier.at, read))) : undefined
    const at = beaten?.at ?? overtaken
    if (at !== undefined) return split(at)[0]
    for (const write of run.writes) perform(documents, write)
    done.push(...run.writes)
    return undefined
  })
  return { lost, keys, after: (key: string): unknown => documents.get(key) }
}
