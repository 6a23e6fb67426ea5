/**
 * Page caches of SQLite databases: large for busy ones, small for idle ones.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite"

/** The initial size of a database's page cache, in pages: enough for an idle space. */
const FEW = 8

/** Shrinks the cache and frees its memory: SQLite allocates twenty pages before it knows the size. */
export const shrink = (database: DatabaseSync): void => database.exec(`PRAGMA cache_size = ${FEW}; PRAGMA shrink_memory`)

/** The cache of a busy database in KiB, the number of statements that make it busy, and the maximum number of large caches. */
const MUCH = 2000
const LOAD = 256
const MOST = 64

/** The page cache of one database, large while the space is busy. */
export class PageCache {
  /** Statements since the last check, up to the number that makes it busy. */
  uses = 0
  private readonly all: PageCaches
  private readonly database: DatabaseSync

  constructor(all: PageCaches, database: DatabaseSync) {
    this.all = all
    this.database = database
  }

  use(): void {
    if (this.uses < LOAD && ++this.uses === LOAD) this.all.grow(this)
  }

  grow(): void {
    this.database.exec(`PRAGMA cache_size = -${MUCH}`)
  }

  shrink(): void {
    this.uses = 0
    shrink(this.database)
  }

  close(): void {
    this.all.forget(this)
  }
}

/** The page caches of all open databases. Few are large, so their memory is bounded. */
export class PageCaches {
  private readonly large = new Set<PageCache>()

  /** Lets a cache grow, and shrinks one that was idle since the last check. */
  grow(cache: PageCache): void {
    if (this.large.has(cache)) return
    for (const other of this.large) {
      if (this.large.size < MOST) break
      this.large.delete(other)
      if (other.uses < LOAD) other.shrink()
      else {
        other.uses = 0
        this.large.add(other)
      }
    }
    this.large.add(cache)
    cache.grow()
  }

  forget(cache: PageCache): void {
    this.large.delete(cache)
  }
}
