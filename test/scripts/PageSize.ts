/**
 * The size of a page that imports the client, one family and one signal, and that of the hooks beside it.
 *
 * @module
 */
import * as Esbuild from "esbuild"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { root } from "./Host.ts"

/** A page with declarations, whose schemas are those of this import. */
export const pageOf = (schemas: string): string => `
${schemas}
import { Cell, Signal } from "systole/cells"
import { connect } from "systole/client"
const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural.pipe(Schema.check(Schema.isGreaterThan(0))) })
const Orders = Cell.family("/data/orders/:id", Order)
const Place = Signal.make("/signals/order/:id/place", () => Order)
${body}`

/** The same page with declarations that have no schemas. */
export const untyped = (): string => `
import { Cell, Signal } from "systole/cells"
import { connect } from "systole/client"
const Orders = Cell.make("/data/orders/:id")
const Place = Signal.make("/signals/order/:id/place")
${body}`

const body = `
const shop = connect().space("shop")
await shop.signal(Place, { params: { id: "1" }, payload: { item: "tea", count: 1 } })
for await (const { value } of shop.watch(Orders.at({ id: "1" }))) document.body.textContent = value?.item
`

export const FREE = "import { Schema } from \"systole/cells\""
const WHOLE = "import * as Schema from \"effect/Schema\""

/** A component with both hooks. */
const component = `
import { createElement } from "react"
import { SpaceProvider, useCell, useSignal } from "systole/react"
const Row = () => {
  const { value } = useCell(Orders.at({ id: "1" }))
  const { send } = useSignal(Place)
  return createElement("button", { onClick: () => send({ params: { id: "1" }, payload: { item: "tea", count: 1 } }) }, value?.item)
}
export const page = createElement(SpaceProvider, { space: shop }, createElement(Row))
`

/** The same component as far as React makes it. */
const bare = `
import { createElement } from "react"
const send = () => shop.signal(Place, { params: { id: "1" }, payload: { item: "tea", count: 1 } })
const Row = () => createElement("button", { onClick: send })
export const page = createElement(Row)
`

/** The sources of the package in a page, as the condition `browser` finds them. */
const alias = {
  "systole/cells": join(root, "src/cell/Page.ts"),
  "systole/client": join(root, "src/client/index.ts"),
  "systole/react": join(root, "src/react/index.ts")
}

type Bundler = (contents: string, external?: Array<string>) => Promise<string | Uint8Array>

/** A page as bundlers make it for browsers. */
export const bundlers: Readonly<Record<"esbuild" | "rolldown", Bundler>> = {
  esbuild: async (contents, external = []) => {
    const { outputFiles: [file] } = await Esbuild.build({
      stdin: { contents, resolveDir: root, loader: "ts" },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      target: "es2024",
      platform: "browser",
      alias,
      external
    })
    return file!.contents
  },
  rolldown: async (contents, external = []) => {
    const page = join(root, "page.ts")
    const plugin = {
      name: "page",
      resolveId: (id: string) => id === page ? page : null,
      load: (id: string) => id === page ? contents : null
    }
    const bundle = await rolldown({ input: page, platform: "browser", resolve: { alias }, external, plugins: [plugin] })
    const { output: [{ code }] } = await bundle.generate({ format: "esm", minify: true })
    return code
  }
}

/** The compressed size of a bundle in bytes. */
export const compressed = (bundle: string | Uint8Array): number => gzipSync(bundle, { level: 9 }).length

/** The compressed sizes of the page in bytes: without and with the code of Schema, and what the hooks add beside React. */
export const sizes = async (): Promise<{ readonly whole: number; readonly beside: number; readonly hooks: number }> => {
  const size = async (contents: string): Promise<number> => compressed(await bundlers.esbuild(contents, ["react"]))
  const page = pageOf(FREE)
  return {
    whole: await size(pageOf(WHOLE)),
    beside: await size(page),
    hooks: await size(page + component) - await size(page + bare)
  }
}
