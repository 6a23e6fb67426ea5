import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Beats from "../../src/ingress/route/Beats.ts"
import * as Subscription from "../../src/kernel/view/Subscription.ts"
import type { Space } from "../../src/kernel/view/Space.ts"

/** A space with journal rows of even beats only. A beat becomes durable while its head is read. */
const spaceAt = (head: number, { during }: { readonly during: number }): Space => {
  let tell: (beat: number) => void = () => {}
  const space: Pick<Space, "beats" | "get" | "head" | "journal"> = {
    beats: Subscription.stream(Subscription.newest, (feed) => {
      tell = feed.tell
      return () => {}
    }),
    head: Effect.sync(() => {
      tell(during)
      return head
    }),
    journal: (beat) => Effect.succeed(beat % 2 === 0 ? { beat } as never : undefined),
    get: () => Effect.succeed(undefined)
  }
  return space as Space
}

/** The numbers of the first beats of a stream. */
const first = (count: number, space: Space, since: Parameters<typeof Beats.follow>[1]) =>
  Effect.map(Stream.runCollect(Stream.take(Beats.follow(space, since), count)), (frames) => frames.map(({ id }) => id))

describe("Beats", () => {
  it.effect("follow the head, and contain the one that became durable while the head was read", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* first(1, spaceAt(5, { during: 6 }), { from: undefined, last: null }), [6])
      assert.deepStrictEqual(yield* first(1, spaceAt(4, { during: 6 }), { from: undefined, last: null }), [6])
      assert.deepStrictEqual(yield* first(2, spaceAt(5, { during: 9 }), { from: undefined, last: null }), [6, 8])
    }))

  it.effect("begin where the client asks, without beats that have no row", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* first(3, spaceAt(4, { during: 6 }), { from: 1, last: null }), [2, 4, 6])
      assert.deepStrictEqual(yield* first(2, spaceAt(4, { during: 6 }), { from: 1, last: "2" }), [4, 6])
      assert.deepStrictEqual(yield* first(1, spaceAt(4, { during: 8 }), { from: 7, last: null }), [8])
    }))
})
