/**
 * Uploads: content that a space receives.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { BlobWriter } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { GroupCommit } from "../beat/GroupCommit.ts"
import type { Space } from "../view/Space.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

/**
 * The uploads of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Uploads {
  /** Number of uploads that are neither finished nor aborted. */
  open = 0
  private readonly state: LiveState
  private readonly group: Pick<GroupCommit, "await">

  constructor(state: LiveState, group: Pick<GroupCommit, "await">) {
    this.state = state
    this.group = group
  }

  readonly begin: Space["content"] = Effect.sync(() => {
    const writer = this.counted(this.state.store.writeBlob())
    return {
      writer,
      store: (hash) => Effect.callback<void, SpaceStopped | PersistenceError>((resume) => {
        try {
          // Content that was already present stays visible to runs.
          if (!this.state.store.holds(hash)) this.state.documents.arrive(hash)
          writer.finish(hash)
        } catch (error) {
          if (error instanceof PersistenceError) return resume(Effect.fail(error))
          throw error
        }
        this.group.await({ open: () => resume(Effect.void), fail: (error) => resume(Effect.fail(error)) })
      })
    }
  })

  private counted(writer: BlobWriter): BlobWriter {
    let isOpen = true
    this.open++
    const end = (): void => {
      if (isOpen) this.open--
      isOpen = false
    }
    return {
      write: (chunk) => writer.write(chunk),
      finish: (hash) => {
        end()
        writer.finish(hash)
      },
      abort: () => {
        end()
        writer.abort()
      }
    }
  }
}
