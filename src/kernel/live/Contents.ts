/**
 * The content of an open space, of any size.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as LargeContent from "../../persistence/LargeContent.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { FlushedReads } from "../view/FlushedReads.ts"
import type { ReadError } from "../view/Expected.ts"
import type { Space } from "../view/Space.ts"
import { LargeUploads } from "./LargeUploads.ts"
import { Uploads } from "./Uploads.ts"

/** The members of the state of a space that content uses. */
type State = ConstructorParameters<typeof LargeUploads>[0] & ConstructorParameters<typeof Uploads>[0]

/** The dependencies of the content of a space. */
interface Dependencies {
  readonly barrier: Pick<OutputBarrier, "await" | "error">
  readonly reads: Pick<FlushedReads, "read">
  readonly store: LargeContent.ContentStore | undefined
}

/**
 * The content of one space.
 */
export class Contents {
  readonly uploads: Uploads
  private readonly large: LargeUploads
  private readonly state: State
  private readonly deps: Dependencies

  constructor(state: State, deps: Dependencies) {
    this.state = state
    this.deps = deps
    this.uploads = new Uploads(state, deps.barrier)
    this.large = new LargeUploads(state, this.uploads, deps.store)
  }

  receive(chunks: AsyncIterable<Uint8Array>): ReturnType<Space["receive"]> {
    return Effect.mapError(this.large.receive(chunks), (error) => this.deps.barrier.error ?? error)
  }

  blob(hash: string): Effect.Effect<Uint8Array | undefined, ReadError> {
    return this.deps.reads.read(() => LargeContent.read(hash, this.state.store.blob(hash)))
  }

  blobPart(hash: string, part: number): ReturnType<Space["blobPart"]> {
    const { barrier, reads } = this.deps
    const stored = reads.read(() => LargeContent.find(this.state.store, hash, part))
    const whole = Effect.flatMap(stored, ({ found, large }) => large ? this.large.part(hash, large, part) : Effect.succeed(found))
    return Effect.mapError(whole, (error) => barrier.error ?? error)
  }
}
