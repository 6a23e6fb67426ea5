import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import * as SignalResponse from "../../src/ingress/signal/SignalResponse.ts"
import { detached } from "../../src/ingress/wire/Runner.ts"
import { SpaceStopped } from "../../src/kernel/model/SpaceError.ts"
import type { PostHears } from "../../src/kernel/view/Space.ts"

describe("A signal that waits for its receipt", () => {
  it("is answered once, and leaves no timer, where the space stops after the signal is durable", async () => {
    vi.useFakeTimers()
    try {
      const answers: Array<string> = []
      const post = (_: unknown, { accepted, fail }: PostHears) => {
        queueMicrotask(() => {
          accepted?.({ id: "x.1.0", beat: 1, duplicate: false })
          queueMicrotask(() => fail(new SpaceStopped({ space: "shop", reason: "closed" })))
        })
        return () => {}
      }
      SignalResponse.post({ name: "shop", post }, { signal: "/signals/a" }, {
        runner: detached,
        seconds: 60,
        end: () => answers.push("ended"),
        answered: ({ status }) => answers.push(String(status)),
        fail: () => answers.push("failed")
      })
      await vi.advanceTimersByTimeAsync(1)
      assert.strictEqual(vi.getTimerCount(), 0)
      await vi.advanceTimersByTimeAsync(60_000)
      assert.deepStrictEqual(answers, ["failed"])
    } finally {
      vi.useRealTimers()
    }
  })
})
