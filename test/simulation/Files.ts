/**
 * The SQLite files of a world, and the proof that damage is noticed: a copy with a fault of its bytes is refused by name, or whole.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, type Layer, Scope } from "effect"
import { Persistence, PersistenceError, type SpaceStore, type SqlDriver } from "systole"
import { layerIn } from "../persistence/SqliteFolder.ts"
import * as Random from "../support/Random.ts"

/** The faults of bytes between a kill and an opening. */
export const faults = ["cut", "flipped", "zeroed", "vanished"] as const
export type Fault = typeof faults[number]

const extensions = [".sqlite", ".sqlite-wal", ".sqlite-wal", ".sqlite-shm"] as const

/** The content of a store: its newest beat, its journal, and its cells. */
interface Content {
  readonly head: number
  /** The kept entries, by their beats. */
  readonly journal: ReadonlyMap<number, string>
  readonly cells: ReadonlyMap<string, string | undefined>
}

const contentOf = (store: SpaceStore): Content => {
  Array.from(store.examine())
  const head = store.head().beat
  const journal = new Map(Array.from(store.scanJournal(0, head), ({ beat, hash, text }) => [beat, `${hash} ${text}`]))
  const keys: Array<string> = []
  for (const top of ["/data", "/rt", "/sys"]) {
    for (let after: string | undefined = top; after !== undefined;) {
      const page: ReadonlyArray<string> = store.below(top, { after, limit: 100 })
      keys.push(...page)
      after = page.at(-1)
    }
  }
  return { head, journal, cells: new Map(keys.map((key) => [key, store.read(key)])) }
}

/** The digest of a row of a journal: that of its first line. */
const digest = (text: string): string => createHash("sha256").update(text.split("\n", 1).join()).digest("hex")

const errorOf = (error: unknown): Error => error instanceof Error ? error : new Error(String(error))

/** Whether an error is a refusal that names its reason. */
const isNamed = (error: unknown): boolean => error instanceof PersistenceError && error.code.startsWith("store/")

/** The files of a world, until it ends. */
export class Files {
  private readonly folder = mkdtempSync(join(tmpdir(), "systole-world-"))
  private readonly count: (kind: string) => void
  private copies = 0

  constructor(count: (kind: string) => void) {
    this.count = count
  }

  /** The store of these files, with drivers that `around` makes of its own. */
  layer(around: (driver: SqlDriver, space: string) => SqlDriver): Layer.Layer<Persistence, PersistenceError> {
    return layerIn(join(this.folder, "spaces"), 0, around)
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Damages a copy of the files of a space as a kill leaves them. Returns the contradiction. */
  async damage(space: string, draw: Random.Random): Promise<string | undefined> {
    if (!existsSync(join(this.folder, "spaces", ".made", space))) return undefined
    const [whole, damaged] = [this.copy(), this.copy()]
    const fault = Random.pick(draw, faults)
    const extension = Random.pick(draw, extensions)
    const file = join(damaged, `${space}${extension}`)
    // The handles of dead processes stay open in this one. So a later handle that closes clears the mark of a store, and leaves its log.
    const isMarked = readFileSync(join(damaged, ".made", space), "utf8") === "open"
    if (!isMarked || !existsSync(file)) return undefined
    harm(file, fault, draw)
    this.count(`file ${fault}`)
    const [truth, found] = [await this.read(whole, space), await this.read(damaged, space)]
    const where = `${space}${extension} was ${fault}`
    if (truth instanceof Error) return `${space} is not readable as a kill left it: ${truth.message}`
    if (found instanceof Error) return isNamed(found) ? undefined : `${where}, and opening it fails without a name: ${String(found.stack)}`
    return contradiction(truth, found, where)
  }

  private copy(): string {
    const copy = join(this.folder, `copy-${this.copies++}`)
    cpSync(join(this.folder, "spaces"), copy, { recursive: true })
    return copy
  }

  private async read(folder: string, space: string): Promise<Content | Error> {
    const scope = Effect.runSync(Scope.make())
    const open = Effect.gen(function*() {
      const persistence = yield* Persistence
      const store = yield* persistence.open(space, { create: false, digest })
      return yield* Effect.try({ try: () => contentOf(store), catch: errorOf })
    })
    const exit = await Effect.runPromise(Effect.result(Scope.provide(Effect.provide(open, layerIn(folder)), scope)))
    await Effect.runPromise(Effect.exit(Scope.close(scope, Exit.void)))
    return exit._tag === "Success" ? exit.success : exit.failure
  }
}

const harm = (file: string, fault: Fault, draw: Random.Random): void => {
  if (fault === "vanished") return rmSync(file)
  const bytes = readFileSync(file)
  const at = draw(Math.max(1, bytes.length))
  if (fault === "cut") return truncateSync(file, at)
  if (fault === "flipped") bytes[at] = (bytes[at] ?? 0) ^ 1 << draw(8)
  else bytes.fill(0, at - at % 4096, at - at % 4096 + 4096)
  writeFileSync(file, bytes)
}

/** Compares what opens with what was there. The newest commits may be lost with the end of a log, and no others. */
const contradiction = (truth: Content, found: Content, where: string): string | undefined => {
  // An earlier state keeps entries that were pruned since.
  const other = [...found.journal].find(([beat, row]) => truth.journal.has(beat) && truth.journal.get(beat) !== row)
  if (other !== undefined) return `${where}, and the entry of beat ${other[0]} opens as another one`
  if (found.head !== truth.head) return where.includes("-wal") ? undefined : `${where}, and the newest beats are gone`
  if (found.journal.size !== truth.journal.size) return `${where}, and entries of the journal are gone`
  const keys = new Set([...truth.cells.keys(), ...found.cells.keys()])
  const changed = [...keys].find((key) => truth.cells.get(key) !== found.cells.get(key))
  if (changed === undefined) return undefined
  return `${where}, and ${changed} is ${found.cells.get(changed)} instead of ${truth.cells.get(changed)}`
}
