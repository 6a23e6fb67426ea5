/**
 * The hooks: a space for a tree of components, its cells, and its signals.
 *
 * @module
 */
"use client"
import * as React from "react"
import type { Signal } from "../cell/Signal.ts"
import type { Rest } from "../client/Caller.ts"
import { failed, RequestFailed } from "../client/RequestFailed.ts"
import type { Place, Sent, SignalParts, SpaceClient } from "../client/SpaceClient.ts"
import { type CellState, follow, loading, stateOf } from "./CellStream.ts"

const Space = React.createContext<SpaceClient | undefined>(undefined)

/** A space, and the components that use it. */
export interface SpaceProps {
  readonly space: SpaceClient
  readonly children?: React.ReactNode
}

/**
 * Gives the components below it a space. Make its client once, outside of components: each client has streams of its own.
 *
 * @category components
 * @since 0.2.0
 */
export const SpaceProvider = ({ children, space }: SpaceProps): React.ReactElement =>
  React.createElement(Space.Provider, { value: space }, children)

/**
 * The space of the nearest `SpaceProvider`, for requests other than those of the hooks.
 *
 * @throws RequestFailed, with `react/provider`, if there is none
 * @category hooks
 * @since 0.2.0
 */
export const useSpace = (): SpaceClient => {
  const space = React.useContext(Space)
  if (space !== undefined) return space
  throw failed("react/provider", "No SpaceProvider is above this component. Put one with a space around all that use its hooks")
}

/** Settings of a followed cell. */
export interface CellOptions<A> {
  /** The value until the first one comes, such as one that the server rendered. Both render the same then. */
  readonly initial?: A | undefined
}

/**
 * The value of a cell now and after each change, as long as the component is mounted. Components that name the same cell share one
 * stream. A cell that is not known yet is `undefined`, and is `loading`.
 *
 * It is not followed on a server: `renderToString` has `initial`. A component may miss values between two renderings; take each with
 * `useSpace().watch`.
 *
 * @throws RequestFailed, with `react/provider`, without a `SpaceProvider`
 * @category hooks
 * @since 0.2.0
 */
export const useCell = <A = unknown>(place: Place<A> | undefined, { initial }: CellOptions<NoInfer<A>> = {}): CellState<A> => {
  const space = useSpace()
  const cell = place === undefined ? undefined : String(place)
  const subscribe = React.useCallback(
    (changed: () => void) => cell === undefined ? () => {} : follow(space, cell, changed),
    [space, cell]
  )
  const now = () => cell === undefined ? loading : stateOf(space, cell) ?? loading
  const { isKnown, ...state } = React.useSyncExternalStore(subscribe, now, () => loading)
  return { ...state, value: (isKnown ? state.value : initial) as A | undefined }
}

/**
 * A signal that a component sends.
 *
 * @category models
 * @since 0.2.0
 */
export interface SignalState<A, Given> {
  /**
   * Sends the signal as `SpaceClient.signal` does, and resolves to `undefined` where it fails; the failure is in `error`. Its
   * function stays the same from one rendering to the next.
   */
  readonly send: (...parts: Rest<SignalParts<A, Given>, {}>) => Promise<Sent | undefined>
  /** Whether a signal is on its way, or is awaited with `wait`. */
  readonly isSending: boolean
  /** The last signal that was sent. */
  readonly sent: Sent | undefined
  /** The failure of the last signal: it is refused, or its event died. */
  readonly error: RequestFailed | undefined
}

/** The end of the last signal, and the number of those without one. */
interface Sending extends Pick<SignalState<unknown, unknown>, "sent" | "error"> {
  readonly open: number
}

/**
 * Sends signals to the space, and tells of the last one. A signal goes on when the component is unmounted.
 *
 * @throws RequestFailed, with `react/provider`, without a `SpaceProvider`
 * @category hooks
 * @since 0.2.0
 */
export const useSignal = <A = unknown, Given = object>(signal: string | Signal<A, Given>): SignalState<A, Given> => {
  const space = useSpace()
  const last = React.useRef(0)
  const [{ error, open, sent }, set] = React.useState<Sending>({ sent: undefined, error: undefined, open: 0 })
  const send = React.useCallback(async (...parts: Rest<SignalParts<A, Given>, {}>) => {
    const call = ++last.current
    const end = (told: Omit<Sending, "open">): void =>
      set(({ open, ...before }) => ({ ...call === last.current ? told : before, open: open - 1 }))
    set(({ open, sent }) => ({ sent, error: undefined, open: open + 1 }))
    try {
      const sent = await space.signal<A, Given>(signal, ...parts)
      end({ sent, error: undefined })
      return sent
    } catch (error) {
      end({ sent: undefined, error: error instanceof RequestFailed ? error : undefined })
      if (error instanceof RequestFailed) return undefined
      throw error
    }
  }, [space, signal])
  return { send, sent, error, isSending: open > 0 }
}
