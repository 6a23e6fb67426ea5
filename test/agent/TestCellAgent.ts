/**
 * An agent of a file in a cell: a space in memory that beats on demand, scripted channels and the test clock.
 *
 * @module
 */
import { type Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Enzyme, type Kernel, Reactor, type Settings, type Space } from "systole"
import plugin from "../../plugins/agent.ts"
import { SAVE } from "../../plugins/agent/cells/CellAgent.ts"
import { SETTINGS } from "../../plugins/agent/cells/CellFile.ts"
import * as RunGuards from "../../src/main/guard/RunGuards.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { channelsOf, fieldsOf, moving, type Scripts, START } from "./TestAgent.ts"

/** The cell of the control file. */
export const CELL = "/data/agent/files/heartbeat.md"

/** The result of a save. */
export interface Saved {
  readonly saved: boolean
  readonly content?: string
  readonly reason?: string
  readonly issues?: ReadonlyArray<string>
}

/** An agent with its world. */
export interface CellAgent {
  readonly space: Space
  /** Saves the file as a person does over HTTP. */
  readonly save: (text: string, from?: string) => Effect.Effect<Saved, unknown>
  /** The address of the bytes of the file. */
  readonly content: Effect.Effect<string>
  readonly text: Effect.Effect<string>
  /** The status lines of an action, by key. */
  readonly fields: (id: string) => Effect.Effect<Readonly<Record<string, string>>>
  /** Sends a signal to the file, and returns the value of its first handling. */
  readonly send: (signal: string, payload?: object) => Effect.Effect<unknown, unknown>
  /** Lets time pass. */
  readonly pass: (time: Duration.Input) => Effect.Effect<void>
}

/** A kernel under the guards of a host: no part of a wake may ask for the time or for chance past its beat. */
const kernelWith = ({ labels, residentRuns, scripts = {}, without }: CellOptions) => {
  const limits = { ...TestKernel.settings.limits, ...residentRuns === undefined ? {} : { residentRuns } }
  const reactor = Reactor.native(channelsOf(scripts, without))
  return TestKernel.layer({ pace: "demand", limits, ...labels === undefined ? {} : { labels } }, undefined, { reactor })
    .pipe(Layer.provide(RunGuards.layer()))
}

/** The world of a test. */
export interface CellOptions {
  readonly enzymes?: ReadonlyArray<Enzyme.Enzyme>
  readonly labels?: Settings["labels"]
  /** The most bodies of durable runs in memory. */
  readonly residentRuns?: number
  readonly scripts?: Scripts
  readonly settings?: object
  /** The channels that the host lacks. */
  readonly without?: ReadonlyArray<string>
}

/** Runs a test with an agent. */
export const withCellAgent = <A, E>(
  test: (agent: CellAgent) => Effect.Effect<A, E, Kernel>,
  options: CellOptions = {}
): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    const { enzymes = [], settings = { approval: "none" } } = options
    yield* TestClock.setTime(START)
    const space = yield* TestKernel.space([...plugin.enzymes, ...enzymes], "agent")
    yield* moving(space.set(SETTINGS, settings as never))
    const content = Effect.map(Effect.orDie(space.get(`${CELL}#/content`)), String)
    const text = Effect.gen(function*() {
      const bytes = yield* Effect.orDie(space.get(yield* content))
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes as Uint8Array)
    })
    yield* test({
      space,
      content,
      text,
      save: (text, from) =>
        moving(space.handled({ signal: SAVE, target: CELL, payload: { text, ...from === undefined ? {} : { from } } })).pipe(
          Effect.map(({ handlings }) => handlings[0]?.value as unknown as Saved)
        ),
      send: (signal, payload = {}) =>
        Effect.map(moving(space.handled({ signal, target: CELL, payload: payload as never })), ({ handlings }) => handlings[0]?.value),
      fields: (id) => Effect.map(text, (text) => fieldsOf(text, id)),
      pass: (time) => moving(Effect.sleep(time))
    })
  }).pipe(
    Effect.provide(Layer.fresh(kernelWith(options)) as Layer.Layer<Kernel>),
    Effect.asVoid
  )
