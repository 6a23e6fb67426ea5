import { assert, describe, it } from "@effect/vitest"
import { createAdaptorServer } from "@hono/node-server"
import { Effect } from "effect"
import { build } from "esbuild"
import type { Server } from "node:http"
import { join } from "node:path"
import { Enzyme } from "systole"
import { vi } from "vitest"
import * as TestIngress from "../ingress/TestIngress.ts"
import { root } from "../scripts/Host.ts"
import * as Chromium from "./Chromium.ts"
import { Orders, Place } from "./hooks.ts"
import { listening } from "./Listening.ts"

const hindrance = await Chromium.hindrance()
const isThere = hindrance === undefined

/** The browser's timers are real. */
const PATIENCE = { timeout: 60_000, interval: 50 }

/** The folders with the oldest React that the hooks support, and with the one of the project. */
const versions = { 18: "test/runtime/react18/node_modules", 19: "node_modules" }

/** The script of the page with one React, and the sources of the package as the condition `browser` finds them. */
const scriptOf = async (modules: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { show } from "./test/runtime/hooks.ts"; show(document.getElementById("root"))`,
      resolveDir: root
    },
    alias: {
      "systole/cells": join(root, "src/cell/Page.ts"),
      "systole/client": join(root, "src/client/index.ts"),
      "systole/react": join(root, "src/react/index.ts"),
      react: join(root, modules, "react"),
      "react-dom": join(root, modules, "react-dom")
    },
    define: { "process.env.NODE_ENV": "\"production\"" },
    bundle: true,
    format: "esm",
    logLevel: "silent",
    platform: "browser",
    write: false
  })
  return outputFiles[0]!.text
}

const place = Enzyme.make({
  name: "place",
  query: Place,
  writes: [Orders],
  run: (tx, { params, payload }) => {
    if (payload.count > 99) throw new Error("There is not so much tea")
    tx.set(Orders.at(params), payload)
  }
})

describe.skipIf(!isThere)(`The hooks in a browser${isThere ? "" : ` (skipped: ${hindrance})`}`, () => {
  it.live.each(Object.keys(versions))("show a cell, send a signal, and tell of its failure: React %s", (version) =>
    Effect.gen(function*() {
      const script = yield* Effect.promise(() => scriptOf(versions[Number(version) as keyof typeof versions]))
      const spaces = { create: "on-demand" as const }
      const config = { spaces, pages: { "/": () => ({ html: "<link rel=icon href=data:,><div id=root></div>", script }) } }
      const app = yield* TestIngress.serve({ enzymes: [place], config })
      const origin = yield* listening(createAdaptorServer({ fetch: (request) => app.app.fetch(request) }) as Server)
      yield* Effect.promise(() => app.put("/v1/spaces/shop/cells/data/orders/1", { item: "tea", count: 1 }))
      yield* Effect.promise(() => Chromium.open(async ({ complaints, page }) => {
        const shows = async (shown: string, said: string): Promise<void> => {
          const texts = () => Promise.all(["#shown", "#said"].map((id) => page.locator(id).textContent()))
          const wanted = `React ${version}: ${shown}`
          await vi.waitFor(async () => assert.deepStrictEqual(await texts(), [wanted, said]), PATIENCE)
        }
        const order = (count: number) => page.getByRole("button", { name: `Order ${count}` }).click()
        await page.goto(origin)
        await shows("live tea 1", "still")
        await order(2)
        await shows("live tea 2", "still")
        await app.put("/v1/spaces/shop/cells/data/orders/1", { item: "coffee", count: 7 })
        await shows("live coffee 7", "still")
        assert.deepStrictEqual(complaints, [])
        await order(100)
        await shows("live coffee 7", "run/failed")
      }))
    }))
})
