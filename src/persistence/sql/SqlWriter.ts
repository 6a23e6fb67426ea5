/**
 * The writer of a SQL store: the claim of a handle, checked and stored in each transaction that writes.
 *
 * @module
 */
import { Claim, type Writer } from "../Backend.ts"
import type { SqlDriver } from "./SqlDriver.ts"
import { readTurn } from "./SqlOpening.ts"
import * as SqlSchema from "./SqlSchema.ts"
import * as StoreFormat from "../StoreFormat.ts"

/** The store of a writer. */
interface Written {
  readonly driver: SqlDriver
  readonly sql: SqlSchema.Statements
  /** The newest writer, as of the opening. */
  readonly opened: Writer
}

/**
 * The writer of one handle.
 */
export class SqlWriter {
  private readonly driver: SqlDriver
  private readonly sql: SqlSchema.Statements
  private readonly claim: Claim

  constructor(space: string, { driver, opened, sql }: Written) {
    this.driver = driver
    this.sql = sql
    this.claim = new Claim(space, opened)
  }

  get epoch(): number {
    return this.claim.epoch
  }

  /**
   * Claims the store in the current transaction, since content is written in the claimed epoch. If the transaction fails, the handle
   * writes no more. An aside is a write without a beat.
   */
  take(stored: Writer, isAside: boolean): void {
    this.claim.wrote(this.next(stored, isAside))
  }

  /** Claims the store before the first part of an upload. */
  upload(): void {
    this.claim.wrote(this.driver.transaction(() => this.next(readTurn(this.sql).writer, false)))
  }

  /** Checks the stored writer, and stores the new one. */
  private next(stored: Writer, isAside: boolean): Writer | undefined {
    const writer = this.claim.next(stored, isAside)
    if (writer === undefined) return undefined
    this.sql.setWriter.run(writer.epoch, writer.asides)
    // Uploads of earlier handles can never finish.
    if (writer.epoch !== stored.epoch) for (const [epoch, upload] of this.sql.uploads.all()) this.drop(epoch as number, upload as number)
    return writer
  }

  /** Removes the parts of an upload. */
  drop(epoch: number, upload: number): void {
    this.sql.dropParts.run(epoch, upload)
    this.sql.endUpload.run(epoch, upload)
  }

  /** The formats of the store, from its format as of the opening. `isSplit` tells whether it has a table of parts by now. */
  formats(opened: StoreFormat.Status, isSplit: () => boolean): StoreFormat.Formats {
    let known = opened
    const status = (): StoreFormat.Status => isSplit() ? StoreFormat.join(known, StoreFormat.settled) : known
    return {
      status,
      raise: (to) => {
        this.claim.wrote(this.driver.transaction(() => {
          SqlSchema.raise(this.driver, to)
          return this.next(readTurn(this.sql).writer, true)
        }))
        known = StoreFormat.join(status(), to)
      }
    }
  }
}
