/**
 * The streams of components: one for each cell of a space, however many components show it.
 *
 * @module
 */
import type { RequestFailed } from "../client/RequestFailed.ts"
import type { SpaceClient, Update } from "../client/SpaceClient.ts"

/**
 * A cell as a component shows it.
 *
 * @category models
 * @since 0.2.0
 */
export interface CellState<A> {
  /** The newest value that is known. `undefined` for a cell without a value, and before the first answer. */
  readonly value: A | undefined
  /**
   * `loading` before the first answer, then `live`. `waiting` while the connection is lost and opened again, or the space is not there
   * yet, and `failed` once the server refuses the stream for good. The value is then the last one that came.
   */
  readonly status: "loading" | "live" | "waiting" | "failed"
  /** The failure of a stream that is `waiting` or `failed`. */
  readonly error: RequestFailed | undefined
  /** The reason for which values before this one are missing; `undefined` if none are. */
  readonly reset: string | undefined
  /** Opens a stream that failed once more, such as after a login. Mounting a component does the same. */
  readonly retry: () => void
}

/** The state of a stream, and whether its value is one that came. */
export interface KnownState extends CellState<unknown> {
  readonly isKnown: boolean
}

/** The state of a stream before it is open. */
export const loading: KnownState =
  { value: undefined, status: "loading", error: undefined, reset: undefined, retry: () => {}, isKnown: false }

/** The streams of each space by the texts of their cells. */
const spaces = new WeakMap<SpaceClient, Map<string, CellStream>>()

/** The state of a cell that a component follows; `undefined` if none does. */
export const stateOf = (space: SpaceClient, cell: string): KnownState | undefined => spaces.get(space)?.get(cell)?.state

/** Follows a cell for a component until the returned function is called. */
export const follow = (space: SpaceClient, cell: string, changed: () => void): () => void => {
  let streams = spaces.get(space)
  if (streams === undefined) spaces.set(space, streams = new Map())
  let stream = streams.get(cell)
  if (stream === undefined) streams.set(cell, stream = new CellStream(space, cell, streams))
  return stream.add(changed)
}

class CellStream {
  state: KnownState
  private readonly space: SpaceClient
  private readonly cell: string
  private readonly streams: Map<string, CellStream>
  private readonly components = new Set<() => void>()
  private ending: AbortController | undefined
  /** The place after which the stream goes on. */
  private after: string | undefined

  constructor(space: SpaceClient, cell: string, streams: Map<string, CellStream>) {
    this.space = space
    this.cell = cell
    this.streams = streams
    this.state = { ...loading, retry: () => this.open() }
  }

  add(changed: () => void): () => void {
    this.components.add(changed)
    this.open()
    return () => {
      this.components.delete(changed)
      // A component that mounts again at once, as under StrictMode or elsewhere in the page, finds its stream open.
      void Promise.resolve().then(() => this.components.size > 0 || this.close())
    }
  }

  /** Opens the stream unless it is open, or no component is there that would end it. */
  private open(): void {
    if (this.ending !== undefined || this.components.size === 0) return
    const ending = this.ending = new AbortController()
    const told = (change: Partial<KnownState>): void => {
      if (this.ending === ending) this.show(change)
    }
    if (this.state.status === "failed") told({ status: "loading", error: undefined })
    const watch = this.space.watch(this.cell, {
      abort: ending.signal,
      after: this.after,
      onState: (state, error) => {
        if (state === "waiting") told({ status: "waiting", error })
        if (state === "live") told({ status: this.state.isKnown ? "live" : "loading", error: undefined })
      }
    })
    const take = ({ cursor, reset, value }: Update<unknown>): void => {
      this.after = cursor
      told({ value, reset, status: "live", error: undefined, isKnown: true })
    }
    watch.each(take).catch((error: RequestFailed) => {
      told({ status: "failed", error })
      if (this.ending === ending) this.ending = undefined
    })
  }

  private close(): void {
    this.ending?.abort()
    this.ending = undefined
    if (this.streams.get(this.cell) === this) this.streams.delete(this.cell)
  }

  private show(change: Partial<KnownState>): void {
    this.state = { ...this.state, ...change }
    this.components.forEach((changed) => changed())
  }
}
