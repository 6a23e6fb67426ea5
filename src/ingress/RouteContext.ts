/**
 * The functions that the routes of a space share.
 *
 * @module
 */
import type * as Stream from "effect/Stream"
import type { Space } from "../kernel/view/Space.ts"
import type * as Sse from "./Sse.ts"

/** The functions that the routes of a space share. */
export interface RouteContext {
  /** Finds a space by name. */
  readonly find: (space: string) => Promise<Space>
  /** Creates a response from a stream of events. */
  readonly stream: (frames: Stream.Stream<Sse.Frame, unknown>) => Response
  /** Whether a request asks for a stream. */
  readonly wantsStream: (request: Request) => boolean
}
