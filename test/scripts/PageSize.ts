/**
 * The size of a page that imports the client, one family and one signal.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { root } from "./Host.ts"

const page = `
import * as Schema from "effect/Schema"
import { Cell, Signal } from "systole/cells"
import { connect } from "systole/client"
const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
const Orders = Cell.family("/data/orders/:id", () => Order)
const Place = Signal.make("/signals/order/:id/place", () => Order)
const shop = connect().space("shop")
await shop.signal(Place, { params: { id: "1" }, payload: { item: "tea", count: 1 } })
for await (const { value } of shop.watch(Orders.at({ id: "1" }))) document.body.textContent = value?.item
`

/** The compressed size of the page in bytes: with Schema, and beside it. */
export const sizes = async (): Promise<{ readonly whole: number; readonly beside: number }> => {
  const built = async (external: Array<string>): Promise<number> => {
    const { outputFiles: [file] } = await Esbuild.build({
      stdin: { contents: page, resolveDir: root, loader: "ts" },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      target: "es2024",
      platform: "browser",
      alias: { "systole/cells": join(root, "src/cell/Page.ts"), "systole/client": join(root, "src/client/index.ts") },
      external
    })
    return gzipSync(file!.contents, { level: 9 }).length
  }
  return { whole: await built([]), beside: await built(["effect/*"]) }
}
