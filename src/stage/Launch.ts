/**
 * Launches: what a run asks for beside its writes.
 *
 * They are plain data inside the run's transaction: they live and die with it,
 * and the beat applies them at its commit. (Architecture, section 11; seed 002,
 * section 7.6.)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Document } from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"

/**
 * When a delayed signal is due: at a beat's number, a number of beats from now,
 * or a number of milliseconds from now.
 *
 * @category models
 * @since 0.1.0
 */
export type At = { readonly beat: number } | { readonly beats: number } | { readonly ms: number }

/**
 * A request to act: `signal` says what is asked, `target` says where. One of the two must be there.
 *
 * Without a payload it is an impulse, which coalesces with equal ones of its
 * beat; with one it is an event, which is handled exactly once.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignalRequest {
  /** A path such as `/signals/image/thumbnail`. */
  readonly signal?: string | undefined
  /** The address of a cell such as `/data/assets/img123`. */
  readonly target?: string | undefined
  readonly payload?: unknown
  readonly at?: At | undefined
  /**
   * The space that it goes to; its own unless given. To another one it leaves when the beat that sent it is durable,
   * arrives there as an event, and is handled once. A wait counts from its arrival.
   */
  readonly space?: string | undefined
}

/** A signal that a run sends, checked and ready for the beat to number. */
export interface Emission {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  readonly payload: Document | undefined
  readonly at: At | undefined
  /** The space that it goes to, where it names one. */
  readonly space?: string | undefined
}

/** A binding or its withdrawal, asked for by a run. */
export interface BindingChange {
  readonly cell: string
  readonly enzyme: string
  readonly propagate: boolean
  /** Withdraws the name here and masks what ancestors give. */
  readonly tombstone: boolean
}

/**
 * A run asked for something that this runtime is composed without.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotProvided extends Schema.TaggedError<NotProvided>()("NotProvided", { verb: Schema.String, service: Schema.String }) {
  readonly code = "service/absent"
  override get message() {
    return `${this.verb} needs the service ${this.service}, and this runtime is composed without it. Add its layer, or do without the call`
  }
}

/** Long-running work with a dossier under `/rt/ops`. (Seed 000, "OPS/STATES".) */
export interface Operations {
  readonly start: (request: {
    readonly verb: string
    readonly target: string
    readonly mode: "opm:direct" | "opm:states"
    readonly payload?: unknown
    readonly ttl?: number
  }) => string
  readonly setState: (oid: string, state: string, note?: { readonly code?: number; readonly note?: string }) => boolean
  readonly await: (oid: string, want: string, then: { readonly signal: string; readonly ttl?: number; readonly payload?: unknown }) => void
  readonly close: (oid: string, status: "sts:ok" | "sts:fail" | "sts:cnl", summary?: unknown) => boolean
  readonly get: (oid: string) => Value
}

/** Meetings with work outside the beat, under `/data/rv`. (Seed 001.) */
export interface Rendezvous {
  readonly spawn: (spec: { readonly key: string; readonly profile?: string } & Readonly<Record<string, unknown>>) => void
  readonly resched: (key: string, delta: number) => boolean
  readonly kill: (key: string, how: { readonly mode: string; readonly wait: number }) => boolean
  readonly report: (key: string, telemetry: unknown) => boolean
}

/** Requests to the outside world, submitted once the beat is durable. (Seed 003.) */
export interface Io {
  readonly request: (channel: string, opcode: string, payload: unknown) => string
}
