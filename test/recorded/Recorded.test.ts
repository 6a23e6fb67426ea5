import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { present } from "../support/Present.ts"
import * as Recording from "./Recording.ts"
import { all, earlier } from "./Stories.ts"
import { beats } from "./Story.ts"
import * as StoryProcess from "./StoryProcess.ts"

/** The names of the views that differ, each with both sides. */
const differences = (actual: Recording.Views, expected: Recording.Views): ReadonlyArray<string> =>
  [...new Set([...Object.keys(actual), ...Object.keys(expected)])].flatMap((space) => {
    const [a, b] = [actual[space] ?? {}, expected[space] ?? {}]
    return [...new Set([...Object.keys(a), ...Object.keys(b)])]
      .filter((name) => a[name] !== b[name])
      .map((name) => `${space}: ${name}: ${a[name]} instead of ${b[name]}`.slice(0, 600))
  })

/** The views without own ids. The recorded stores come from a version that did not keep them, and never change. */
const withoutOwn = (views: Recording.Views): Recording.Views =>
  JSON.parse(JSON.stringify(views).replaceAll(/,\\"own\\":\\"[^"\\]*\\"/g, "")) as Recording.Views

describe("A recorded store", () => {
  it.each([...all, ...earlier])("of $name opens, verifies, replays to the byte and shows the same", async (story) => {
    const views = await Recording.inFolder((root) => {
      Recording.restore(story, root)
      return Recording.look(story, root)
    })
    assert.deepStrictEqual(differences(views, Recording.recorded(story)), [])
  })

  it.each(all)("of $name is made again, each journal row to the byte", async (story) => {
    const views = await Recording.inFolder((root) => Effect.andThen(Recording.act(story, root), Recording.look(story, root)))
    assert.deepStrictEqual(differences(withoutOwn(views), Recording.recorded(story)), [])
  })

  it("has its runs go on under the rules with which they began", async () => {
    const story = present(earlier.find(({ name }) => name === "durable runs that hear and are cancelled, semantics 1"))
    const receipt = await Recording.inFolder((root) => {
      Recording.restore(story, root)
      return StoryProcess.live(story, root, ({ kernel }) => Effect.gen(function*() {
        const space = yield* kernel.space("home")
        yield* TestClock.setTime(1_000_000)
        yield* beats(space, 70)
        yield* space.signal({ signal: "/signals/heard", target: "/data/lasting", payload: "heard" })
        yield* beats(space, 2)
        return yield* space.receipt("x.0.4")
      }))
    })
    assert.deepStrictEqual(receipt?.handlings.map(({ enzyme, value }) => [enzyme, value]), [["lasting", "heard"]])
  })

  it("verifies and replays without a difference", () => {
    for (const story of [...all, ...earlier]) {
      for (const [space, view] of Object.entries(Recording.recorded(story))) {
        assert.strictEqual(view["verify"], "null", `${story.name}, ${space}`)
        const replays = Object.entries(view).filter(([name]) => name.startsWith("replay "))
        for (const [name, result] of replays) assert.strictEqual(result, "[null,null,[]]", `${story.name}, ${space}, ${name}`)
      }
    }
  })
})
