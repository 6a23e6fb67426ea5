/**
 * Uploads: content that a space receives.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { StoredContent } from "../../ledger/Ledger.ts"
import { PART } from "../../persistence/Backend.ts"
import type { BlobWriter } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { FOLDER } from "../../stage/Content.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { Space } from "../view/Space.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

/** The members of the state of a space that uploads use. */
type State = Pick<LiveState, "documents" | "startHash" | "store">

/** Content of a job exceeds its limit. */
export class ContentFull extends Data.TaggedError("ContentFull")<{ readonly limit: number }> {
  readonly code = "io/too-large"
  override get message() {
    return `The content has more than ${this.limit} bytes, which is the limit of the job. Ask for less, or raise the limit`
  }
}

/**
 * The uploads of one space.
 */
export class Uploads {
  /** Number of uploads that are neither finished nor aborted. */
  open = 0
  private readonly state: State
  private readonly barrier: Pick<OutputBarrier, "await" | "error">

  constructor(state: State, barrier: Pick<OutputBarrier, "await" | "error">) {
    this.state = state
    this.barrier = barrier
  }

  readonly begin: Space["content"] = Effect.sync(() => {
    const writer = this.counted(this.state.store.writeBlob())
    return {
      writer,
      store: (hash) => Effect.callback<void, SpaceStopped | PersistenceError>((resume) => {
        try {
          this.finish(writer, hash)
        } catch (error) {
          // The store of a space that stopped is closed.
          if (error instanceof PersistenceError) return resume(Effect.fail(this.barrier.error ?? error))
          throw error
        }
        this.barrier.await({ open: () => resume(Effect.void), fail: (error) => resume(Effect.fail(error)) })
      })
    }
  })

  /**
   * Stores content that a job of the space brings, at most `limit` bytes. The beat that captures the job's end makes it durable.
   * An abort of `signal` ends it with the reason of the signal, also while no chunk comes.
   */
  async keep(bytes: Uint8Array | AsyncIterable<Uint8Array>, limit: number, signal?: AbortSignal): Promise<StoredContent> {
    signal?.throwIfAborted()
    const writer = this.counted(this.state.store.writeBlob())
    const hasher = this.state.startHash()
    let size = 0
    const add = (chunk: Uint8Array): void => {
      size += chunk.length
      if (size > limit) throw new ContentFull({ limit })
      hasher.update(chunk)
      for (let at = 0; at < chunk.length; at += PART) writer.write(chunk.subarray(at, at + PART))
    }
    try {
      if (bytes instanceof Uint8Array) add(bytes)
      else for await (const chunk of signal === undefined ? bytes : until(bytes, signal)) add(chunk)
      const hash = hasher.hex()
      this.finish(writer, hash)
      return { address: `${FOLDER}${hash}`, bytes: size }
    } catch (error) {
      writer.abort()
      throw error
    }
  }

  private finish(writer: BlobWriter, hash: string): void {
    // Content that was already present stays visible to runs.
    if (!this.state.store.holds(hash)) this.state.documents.arrive(hash)
    writer.finish(hash)
  }

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

/** The chunks of a source until a signal is aborted. */
async function* until(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]()
  try {
    for (let step = await next(source, signal); step.done !== true; step = await next(source, signal)) yield step.value
  } finally {
    // A source that hangs does not answer to its end either.
    void source.return?.().catch(() => {})
  }
}

/** The next chunk of a source, or the failure of an abort. */
const next = (source: AsyncIterator<Uint8Array>, signal: AbortSignal): Promise<IteratorResult<Uint8Array>> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    source.next().then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
