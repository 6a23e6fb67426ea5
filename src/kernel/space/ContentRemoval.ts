/**
 * The removal of the objects of removed spaces from the content store.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { ContentStore } from "../../persistence/LargeContent.ts"
import { clear } from "../live/LargeUploads.ts"

/**
 * The removals of one kernel. A name has no space until its objects are gone, so that no new ones are among them.
 */
export class ContentRemoval {
  private readonly contents: ContentStore | undefined
  private readonly reporter: Reporter
  private readonly removing = new Map<string, Promise<void>>()

  constructor(contents: ContentStore | undefined, reporter: Reporter) {
    this.contents = contents
    this.reporter = reporter
  }

  /** Whether the objects of a name are being deleted. */
  has(name: string): boolean {
    return this.removing.has(name)
  }

  /** Begins to delete the objects of a removed space: those whose uploads have names that begin with a text. */
  begin(name: string, uploads: string): void {
    const { contents } = this
    if (contents !== undefined && !this.removing.has(name)) this.removing.set(name, this.remove(contents, name, uploads))
  }

  /** Waits for the end of a removal. */
  done(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const removing = this.removing.get(name)
      return removing === undefined ? Effect.void : Effect.promise(() => removing)
    })
  }

  /** Objects that are left belong to no space. A failure is reported, since the space is gone. */
  private async remove(contents: ContentStore, name: string, uploads: string): Promise<void> {
    try {
      await clear(contents, name, uploads)
    } catch (error) {
      this.reporter.report(UnexpectedFailure.of(error))
    } finally {
      this.removing.delete(name)
    }
  }
}
