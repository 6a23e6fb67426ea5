/**
 * Recordings: the stores of each story, and the view of each of its spaces.
 *
 * They lie beside this file, compressed: `stores/<story>/<space>.sqlite.br` and
 * `stores/<story>.json.br`. `npm run record` makes them anew.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, brotliDecompressSync } from "node:zlib"
import * as StoryProcess from "./StoryProcess.ts"
import type { Story } from "./Story.ts"
import * as View from "./View.ts"

/** The views of a story, space by space. */
export type Views = Readonly<Record<string, View.View>>

const stores = fileURLToPath(new URL("stores", import.meta.url))

const slug = ({ name }: Story): string => name.replaceAll(/[^a-z0-9]+/g, "-")

const viewFile = (story: Story): string => join(stores, `${slug(story)}.json.br`)

const storeFile = (story: Story, space: string): string => join(stores, slug(story), `${space}.sqlite.br`)

const databaseFile = (root: string, space: string): string => join(StoryProcess.data(root), `${space}.sqlite`)

/** Runs in a folder that is removed afterwards, under a test clock of its own. */
export const inFolder = <A>(run: (root: string) => Effect.Effect<A, unknown>): Promise<A> => {
  const root = mkdtempSync(join(tmpdir(), "systole-recorded-"))
  const clocked = Effect.provide(Effect.scoped(run(root)), Layer.fresh(TestClock.layer()))
  return Effect.runPromise(clocked).finally(() => rmSync(root, { recursive: true, force: true }))
}

/** Acts a story out below `root`. */
export const act = (story: Story, root: string): Effect.Effect<void, unknown> => StoryProcess.live(story, root, story.act)

/** The moment of each look, in milliseconds: later than any story ends. */
const LOOK = 1_000_000

/** The views that a fresh process shows of the stores below `root`. */
export const look = (story: Story, root: string): Effect.Effect<Views, unknown> =>
  StoryProcess.live(story, root, (process) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(LOOK)
      const views: Record<string, View.View> = {}
      for (const name of story.spaces) {
        const space = yield* process.kernel.space(name)
        views[name] = { ...yield* View.ofSpace(space), ...yield* View.ofHttp(process, name) }
      }
      return views
    }))

/** The views that were recorded. */
export const recorded = (story: Story): Views => JSON.parse(brotliDecompressSync(readFileSync(viewFile(story))).toString()) as Views

/** Puts the recorded stores below `root`. */
export const restore = (story: Story, root: string): void => {
  mkdirSync(StoryProcess.data(root), { recursive: true })
  for (const space of story.spaces) writeFileSync(databaseFile(root, space), brotliDecompressSync(readFileSync(storeFile(story, space))))
}

/** Acts a story out and keeps its stores and views. */
export const record = (story: Story): Promise<void> =>
  inFolder((root) =>
    Effect.gen(function*() {
      yield* act(story, root)
      keep(story, root)
      const views = yield* look(story, root)
      writeFileSync(viewFile(story), brotliCompressSync(JSON.stringify(views)))
    }))

const keep = (story: Story, root: string): void => {
  for (const space of story.spaces) {
    const [file, target] = [databaseFile(root, space), storeFile(story, space)]
    const database = new DatabaseSync(file)
    database.exec("PRAGMA wal_checkpoint(TRUNCATE); VACUUM")
    database.close()
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, brotliCompressSync(readFileSync(file)))
  }
}
