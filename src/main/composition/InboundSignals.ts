/**
 * The ingress of channels: messages that arrive by themselves become signals of spaces.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { kindOf, type Kind } from "../../contract/Refusal.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { Runner } from "../../ingress/wire/Runner.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import type { Space } from "../../kernel/view/Space.ts"
import * as Channel from "../../reactor/Channel.ts"

/** The parts of the runtime that inbound signals pass. */
export interface Parts {
  readonly kernel: Kernel["Service"]
  readonly runner: Pick<Runner, "promise">
  readonly reporter: Reporter
}

/** The kinds of refusals that end by themselves, or by an operator. */
const passing: ReadonlySet<Kind | undefined> = new Set(["full", "unavailable", "damaged", "exhausted"])

/** The refusal of a signal, by the failure of its space. */
const refusalOf = (failure: unknown): NonNullable<Channel.Taken["refused"]> => {
  const { code, message } = Object(failure) as { readonly code?: unknown; readonly message?: unknown }
  const known = typeof code === "string" ? code : "io/failed"
  return { then: passing.has(kindOf(known)) ? "wait" : "drop", error: Channel.fail(known, String(message)) }
}

const isDetached = (space: Space): Effect.Effect<boolean> => Effect.map(space.control.state, ({ detached }) => detached !== undefined)

/** The signals of a channel in one space, posted in their order up to the first refusal. */
const post = async (
  { id: channel, label = [] }: Channel.Channel,
  space: Space,
  signals: ReadonlyArray<Channel.InboundSignal>
): Promise<Channel.Taken> => {
  const first: { at: number; error?: unknown } = { at: signals.length }
  const more = { principal: `channel ${channel}`, ...label.length > 0 ? { label } : {} }
  const posted: Array<Promise<void>> = []
  for (const [at, signal] of signals.entries()) {
    if (at > first.at) break
    posted.push(new Promise((resolve) => {
      const fail = (error: unknown): void => {
        if (at < first.at) Object.assign(first, { at, error })
        resolve()
      }
      space.post({ ...signal, ...more }, { accepted: () => resolve(), fail })
    }))
  }
  await Promise.all(posted)
  return first.at === signals.length ? { taken: first.at } : { taken: first.at, refused: refusalOf(first.error) }
}

/**
 * The ingress of a channel.
 */
export const make = (channel: Channel.Channel, { kernel, reporter, runner }: Parts): Channel.Ingress => ({
  admits: async (name) => {
    const known = Effect.flatMap(kernel.space(name, { create: false }), isDetached)
    // A space that cannot be opened takes no message yet. One that is absent may be created by its first one.
    return !await runner.promise(Effect.catch(known, ({ code }) => Effect.succeed(code !== "space/unknown")))
  },
  take: async (name, signals) => {
    try {
      const space = await runner.promise(kernel.space(name))
      if (await runner.promise(isDetached(space))) {
        return { taken: 0, refused: { then: "close", error: Channel.fail("io/held", `the space ${name} is detached`) } }
      }
      return await post(channel, space, signals)
    } catch (failure) {
      return { taken: 0, refused: refusalOf(failure) }
    }
  },
  report: (topic, note) =>
    reporter.report({
      ...Diagnostic.of(topic, { note, origin: { kind: "runtime", name: `channel ${channel.id}` }, subject: undefined }),
      space: undefined, beat: undefined
    })
})

/** Begins all channels that take messages. One whose begin fails is reported, and stops no other. */
export const begin = (channels: Iterable<Channel.Channel>, parts: Parts): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const channel of channels) {
      const ingress = make(channel, parts)
      try {
        channel.begin?.(ingress)
      } catch (failure) {
        ingress.report("io/connection", `the channel ${channel.id} does not begin: ${String(failure)}`)
      }
    }
  })
