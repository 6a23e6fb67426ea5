/**
 * Streams that go on: one that breaks, falls silent or slept with its host is opened again after its last event.
 *
 * @module
 */
import { events, type Read, type StreamEvent } from "./Events.ts"
import { backoff, isPassing, never, send, type Target } from "./Exchange.ts"
import { failed, foreign, type Problem, RequestFailed } from "./RequestFailed.ts"

/** The state of a stream: its connection opens, sends, or is lost and opened again after a while. */
export type StreamState = "opening" | "live" | "waiting"

/** Settings of a stream. */
export interface FollowOptions {
  /** Ends the stream. */
  readonly abort?: AbortSignal | undefined
  /** The id of the event after which it begins. */
  readonly after?: string | undefined
  /** Receives each change of its state, with the failure for which it waits. An error that it throws ends the stream. */
  readonly onState?: ((state: StreamState, failure?: RequestFailed) => void) | undefined
}

/** The longest silence of a stream in milliseconds: the server sends a comment each 15 seconds. And how often it is looked at. */
const SILENCE = 40_000
const LOOK = 5_000

/** The longest time in milliseconds between two looks for a space that is not there yet: a page may show it soon after. */
const ABSENT = 5_000

/** The milliseconds after which a connection was a good one: the next one is opened soon. */
const GOOD = 10_000

/**
 * The events of a stream, until its `abort`. Each is there once, however often the connection is lost. It waits for a space that is
 * not there yet, such as one that the first signal makes, and its state is `waiting` with `space/unknown` meanwhile.
 *
 * Ends with {@link RequestFailed} where the server refuses it for good, such as with `auth/missing`, and with an error of `onState`.
 */
export async function* follow(target: Target, path: string, options: FollowOptions = {}): AsyncGenerator<StreamEvent, void> {
  const { abort = never, onState } = options
  const { platform } = target
  let { after = "" } = options
  for (let attempt = 1; !abort.aborted; attempt++) {
    const connection = new AbortController()
    const began = platform.now()
    let failure: RequestFailed | undefined
    onState?.("opening")
    try {
      const read = await open(target, { path, after, ended: AbortSignal.any([abort, connection.signal]) })
      onState?.("live")
      for await (const event of events(silenced(target, read, connection))) {
        if (event.event === "problem") throw new RequestFailed(event.data as Problem)
        if (event.id !== "") after = event.id
        yield event
      }
    } catch (error) {
      if (abort.aborted) return
      // An error of `onState` is no failure of the server.
      if (!(error instanceof RequestFailed) || !(isPassing(error) || isAbsent(error))) throw error
      failure = error
    } finally {
      connection.abort()
    }
    if (platform.now() - began > GOOD) attempt = 1
    onState?.("waiting", failure)
    const longest = failure !== undefined && isAbsent(failure) ? ABSENT : undefined
    await platform.sleep(Math.max(failure?.after ?? 0, backoff(attempt, platform, longest)), abort)
  }
}

/** Whether the space of a stream is not there. */
const isAbsent = ({ code }: RequestFailed): boolean => code === "space/unknown"

const open = (target: Target, { after, ended, path }: { readonly path: string; readonly after: string; readonly ended: AbortSignal }) =>
  send(target, {
    method: "GET",
    path,
    headers: { accept: "text/event-stream", ...after === "" ? {} : { "last-event-id": after } },
    // A lost stream is opened again by its own loop.
    isSafe: false,
    abort: ended,
    read: ({ body, headers, status }): Read => {
      const reader = headers.get("content-type")?.startsWith("text/event-stream") === true ? body?.getReader() : undefined
      if (reader === undefined) throw foreign(status)
      // A `fetch` of a program may leave the body open.
      ended.addEventListener("abort", () => void reader.cancel().catch(() => {}))
      return () =>
        reader.read().catch((error: unknown) => {
          throw error instanceof RequestFailed ? error : failed("server/unreachable", "The stream broke off", error)
        })
    }
  })

/** Reads that end the connection after a long silence. The wall clock jumps over the sleep of a host, so that counts, too. */
const silenced = ({ platform }: Target, read: Read, connection: AbortController): Read => {
  let since: number | undefined
  const watch = async (): Promise<void> => {
    for (;;) {
      await platform.sleep(LOOK, connection.signal)
      if (connection.signal.aborted) return
      if (since === undefined || platform.now() - since <= SILENCE) continue
      return connection.abort(failed("server/timeout", "The stream fell silent"))
    }
  }
  void watch()
  return async () => {
    since = platform.now()
    try {
      return await read()
    } finally {
      since = undefined
    }
  }
}
