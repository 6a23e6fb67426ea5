import { assert, describe, it } from "@effect/vitest"
import * as Parts from "../attack/Parts.ts"
import * as Targets from "../attack/Targets.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as Proof from "./Proof.ts"
import * as Soak from "./Soak.ts"
import * as Trend from "./Trend.ts"

/** One round over some spaces, or three over many. */
const LENGTH = Trials.form({ short: { minutes: 1 / 60, spaces: 10 }, long: { minutes: 1 / 5, spaces: 50 } })

describe("A soak", () => {
  it("of some rounds loses nothing, doubles nothing, and each space replays after a restart", async () => {
    const packed = await Targets.unpacked()
    try {
      const { acknowledged, attempts, faults, proof } = await Soak.run({ packed, ...LENGTH, seed: 1 })
      assert.deepStrictEqual(faults, [])
      assert.isAtLeast(acknowledged, 20)
      assert.isAtLeast(attempts, Parts.all.length)
      assert.strictEqual(proof.receipts, acknowledged)
    } finally {
      await packed.remove()
    }
  })
})

describe("The questions of a proof", () => {
  /** Questions to a server that is late at some requests, each a path with the number of the try. */
  const questions = (isLate: (request: string) => boolean) => {
    const tries = new Map<string, number>()
    const ask: Targets.Target["ask"] = async (path) => {
      const tried = (tries.get(path) ?? 0) + 1
      tries.set(path, tried)
      if (isLate(`${path} ${tried}`)) throw new Targets.Late(`GET ${path} is late`)
      return { status: 200, headers: {}, text: path.includes("/runs") ? `{"runs":[]}` : "{}" }
    }
    return new Proof.Questions({ ask, data: "" })
  }

  it("are asked again if an answer is late, which is a figure and no fault", async () => {
    const asked = questions((request) => request === "/v1/spaces/a/signals 1" || request === "/v1/spaces/b/runs?limit=10 1")
    await Proof.quieted(asked, ["a", "b"], "end")
    assert.deepInclude(asked, { late: 2, faults: [] })
  })

  it("that are never answered are faults, and all others are asked", async () => {
    const asked = questions((request) => request.startsWith("/v1/spaces/a/"))
    const seen: Array<string> = []
    await Proof.quieted(asked, ["a"], "end")
    await asked.look("the other", async () => {
      seen.push(JSON.stringify(await asked.of("b")("/cells/data/x")))
      return ["a fault"]
    })
    assert.deepStrictEqual(asked.faults, ["the rest of a cannot be proved: GET /v1/spaces/a/signals is late", "a fault"])
    assert.deepStrictEqual(seen, ["{}"])
  })
})

describe("The trend of a figure", () => {
  const figure = (values: Trend.Series) => Trend.judge({ name: "memory", unit: "MiB", values, least: 5, share: 0.1 })

  it("is judged over the second half, when all is warm", () => {
    const warm = Array.from({ length: 40 }, (_, i) => 100 + Math.min(i, 20) * 10)
    assert.isTrue(figure(warm).isFlat)
    const leak = Array.from({ length: 40 }, (_, i) => 100 + i * 10)
    assert.deepInclude(figure(leak), { growth: 190, isFlat: false })
  })

  it("is not moved by a few odd values, nor by noise", () => {
    const draw = Random.make(1)
    const noisy = Array.from({ length: 60 }, (_, i) => i % 9 === 0 ? 5000 : 100 + draw(20))
    assert.isTrue(figure(noisy).isFlat)
    assert.isFalse(figure(noisy.map((value, i) => value + i)).isFlat)
  })

  it("may grow by its bounds, and fall", () => {
    assert.isTrue(figure([100, 100, 100, 100, 104]).isFlat)
    assert.isTrue(figure([9, 8, 7, 6, 5, 4, 3, 2, 1]).isFlat)
    assert.isFalse(figure([1, 2, 3, 4, 5, 6, 10, 14, 18, 22]).isFlat)
  })
})
