import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import rvInit from "../../enzymes/rv_init.ts"
import { pack } from "../recorded/HttpModules.ts"
import { problem, serve, type TestIngress } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

const space = "/v1/spaces/shop"

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () =>
    Effect.flatMap(serve({ enzymes: [rvInit, pack], config: { spaces: { create: "on-demand" }, system: ["rv_init"] } }), (app) =>
      Effect.promise(async () => {
        await app.post(`${space}/signals`, { signal: "/CEP:sig_sys/init" }, { prefer: "wait=10" })
        await run(app)
      })))

interface Row {
  readonly inst: string
  readonly state: string
  readonly pc: string
  readonly history: ReadonlyArray<{ readonly step: string }>
}

/** Follows an instance until it reaches a state. */
const until = async (fetch: (path: string, init?: RequestInit) => Promise<Response>, inst: string, state: string): Promise<void> => {
  const reader = (await fetch(`${space}/flows/${inst}`, {
    headers: { accept: "text/event-stream" }
  })).body!.pipeThrough(new TextDecoderStream()).getReader()
  await StreamText.until(reader, `"state":"${state}"`)
  await reader.cancel()
}

describe("Flows over HTTP", () => {
  test("are described step by step, started, listed, followed, paused, resumed and cancelled", async ({ ask, fetch, post }) => {
    assert.deepStrictEqual(((await ask("/v1/flows")).body as { readonly flows: ReadonlyArray<unknown> }).flows, [{
      name: "pack",
      steps: [
        { step: "ask", kind: "transform", goals: ["packed"] },
        { step: "packed", kind: "wait", goals: ["whole", "error"] },
        { step: "whole", kind: "decide", goals: ["done", "error"] }
      ]
    }])
    const started = await post(`${space}/flows`, { flow: "pack", inst: "one", input: { n: 1 } })
    assert.deepStrictEqual([started.status, started.headers.get("location")], [201, `${space}/flows/one`])
    const minted = (await post(`${space}/flows`, { flow: "pack" })).body as { readonly inst: string }
    await until(fetch, "one", "waiting")
    const list = (await ask(`${space}/flows?limit=1`)).body as { readonly instances: ReadonlyArray<Row>; readonly next: string }
    const rest = (await ask(`${space}/flows?after=${encodeURIComponent(list.next)}`)).body as typeof list
    assert.sameMembers([...list.instances, ...rest.instances].map(({ inst }) => inst), ["one", minted.inst])
    assert.deepStrictEqual((await ask(`${space}/flows?limit=0`)).body, { instances: [], next: null })
    assert.strictEqual((await post(`${space}/flows/one/pause`, {})).status, 200)
    await post(`${space}/rv/one.box/report`, { telemetry: { boxes: 2 } })
    assert.deepInclude(
      (await ask(`${space}/flows/one`)).body as Row,
      { inst: "one", flow: "pack", state: "paused", pc: "packed", input: { n: 1 } } as never
    )
    assert.strictEqual((await post(`${space}/flows/one/budget`, { steps: 9 })).status, 200)
    assert.strictEqual((await post(`${space}/flows/one/resume`, {})).status, 200)
    await until(fetch, "one", "done")
    assert.deepStrictEqual(((await ask(`${space}/flows/one`)).body as Row).history.map(({ step }) => step), ["ask", "packed", "whole"])
    assert.strictEqual((await post(`${space}/flows/${minted.inst}/budget`, { beats: "10s" })).status, 200)
    const limited = (await ask(`${space}/flows/${minted.inst}`)).body as Row & {
      readonly budget: { readonly deadline: number; readonly steps: number }
      readonly started: number
    }
    // The tempo is 100 ms.
    assert.strictEqual(limited.budget.steps, 0)
    assert.isAtLeast(limited.budget.deadline, limited.started + 100)
    assert.strictEqual((await post(`${space}/flows/${minted.inst}/cancel`, {})).status, 200)
    await until(fetch, minted.inst, "cancelled")
  })

  test("refuse unknown flows, finished instances and malformed requests with a code, without a change", async (
    { accidents, ask, fetch, post }
  ) => {
    await post(`${space}/flows`, { flow: "pack", inst: "one" })
    await post(`${space}/flows`, { flow: "pack", inst: "over" })
    await until(fetch, "over", "waiting")
    await post(`${space}/flows/over/cancel`, {})
    await until(fetch, "one", "waiting")
    const before = [(await ask(`${space}/cells/data/flow?below`)).body, (await ask(`${space}/flows/one`)).body]
    const refusals: ReadonlyArray<readonly [string, unknown, number, string]> = [
      ["flows", { flow: "none" }, 404, "flow/unknown"],
      ["flows", {}, 400, "flow/invalid"],
      ["flows", { flow: 3 }, 400, "body/malformed"],
      ["flows", { flow: "pack", more: 1 }, 400, "body/malformed"],
      ["flows", { flow: "pack", inst: "a/b" }, 400, "flow/invalid"],
      ["flows", { flow: "pack", inst: "one" }, 409, "flow/exists"],
      ["flows", { flow: "pack", inst: "x", beats: -1 }, 400, "flow/invalid"],
      ["flows", { flow: "pack", inst: "x", beats: "soon" }, 400, "flow/invalid"],
      ["flows", { flow: "pack", inst: "x", beats: "-1s" }, 400, "flow/invalid"],
      ["flows/none/pause", {}, 404, "flow/absent"],
      ["flows/one/resume", {}, 409, "flow/state"],
      ["flows/over/cancel", {}, 409, "flow/state"],
      ["flows/over/budget", { steps: 1 }, 409, "flow/state"],
      ["flows/one/budget", { steps: "1" }, 400, "body/malformed"]
    ]
    for (const [path, body, status, code] of refusals) {
      assert.deepStrictEqual(problem(await post(`${space}/${path}`, body)), [status, code], `${path} ${JSON.stringify(body)}`)
    }
    assert.deepStrictEqual(problem(await ask(`${space}/flows/none`)), [404, "flow/absent"])
    assert.deepStrictEqual([(await ask(`${space}/cells/data/flow?below`)).body, (await ask(`${space}/flows/one`)).body], before)
    assert.deepStrictEqual(accidents, [])
  })
})
