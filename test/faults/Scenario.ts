/**
 * A scenario: the inputs of a space, round by round, and its enzymes.
 *
 * Each event has a number. Each enzyme that handles the event, or a signal that
 * follows from it, increments a counter below `/data/done/<number>/`. So the
 * effects of each event can be checked separately, in any order.
 *
 * @module
 */
import type { Channel, Enzyme, Event, PostedSignal, Settings, Transaction } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"

/** An input. It is sent again if the space stops before the answer; an event only if it has an id. */
export type Input =
  | { readonly kind: "post"; readonly n: number; readonly signal: PostedSignal }
  | { readonly kind: "set"; readonly address: string; readonly value: unknown }
  | { readonly kind: "bind" | "unbind"; readonly cell: string; readonly enzyme: string }
  | { readonly kind: "keep"; readonly bytes: Uint8Array }
  /** Marks the newest beat of the idle space as the target of a rollback. */
  | { readonly kind: "mark" }
  /** Ends with its operation. */
  | { readonly kind: "steer"; readonly verb: "pause" | "rollback" | "resume" | "shutdown" | "restart" }

/** The final cells of a space, by their addresses. */
export type Cells = ReadonlyMap<string, unknown>

/** The channels of one execution, which survive its restarts. */
export interface World {
  readonly channels: ReadonlyArray<Channel.Channel>
  /** The fault of the executed jobs, if any. */
  readonly fault: () => string | undefined
}

/** A scenario. */
export interface Scenario {
  readonly name: string
  readonly enzymes: ReadonlyArray<Enzyme.Enzyme>
  readonly settings?: Partial<Settings>
  /** Makes the world of an execution. */
  readonly world?: () => World
  /** The enzymes that are granted `system`. */
  readonly grants?: ReadonlyArray<string>
  /** The inputs of a round are sent together; the next round begins when all have answers. */
  readonly rounds: ReadonlyArray<ReadonlyArray<Input>>
  /** Cells that depend on the handled events and on their order, and the check of them. All other cells equal those without faults. */
  readonly judge?: {
    readonly cells: ReadonlyArray<string>
    readonly fault: (cells: Cells, handled: Handled) => string | undefined
    /** The cells of an event in a form that is the same for two right ends. Default: as they are. */
    readonly form?: (cells: string) => string
  }
}

/** The numbers of the handled events, and of the events that were sent more than once. */
export interface Handled {
  readonly all: ReadonlySet<number>
  readonly again: ReadonlySet<number>
}

/** The payload of an event. */
export interface Numbered {
  readonly n: number
}

/** Counts a handling of an event. */
export const done = (tx: Transaction, { payload }: Event, name: string): void =>
  tx.increment(`/data/done/${(payload as unknown as Numbered).n}/${name}`)

/** An enzyme that counts each handling before it runs. */
export const counting =
  (name: string, run: (tx: Transaction, event: Event) => unknown = () => undefined, options: Parameters<typeof enzyme>[2] = {}) =>
  enzyme(name, (tx, event) => {
    done(tx, event, name)
    return run(tx, event)
  }, options)

/** The input that posts one event. */
export const post = (name: string, n: number, more: Partial<PostedSignal> & { readonly with?: object } = {}): Input => {
  const { with: payload, ...rest } = more
  return { kind: "post", n, signal: { signal: `/signals/${name}`, payload: { n, ...payload }, ...rest } }
}

/** Inputs that post events with these numbers; every second event has an id. */
export const posts = (name: string, [from, to]: readonly [number, number], more: Parameters<typeof post>[2] = {}): ReadonlyArray<Input> =>
  Array.from({ length: to - from + 1 }, (_, i) => post(name, from + i, i % 2 === 0 ? { ...more, id: `id-${from + i}` } : more))
