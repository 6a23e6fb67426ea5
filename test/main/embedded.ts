/**
 * A program with an embedded runtime, which handles one signal and ends by itself.
 *
 * @module
 */
import { Hono } from "hono"
import process from "node:process"
import { Enzyme } from "systole"
import * as Embed from "systole/embed"

const [data = ""] = process.argv.slice(2)

const greet = Enzyme.make({ name: "greet", query: "/signals/greet", writes: ["/data/greeted"], run: (tx) => tx.increment("/data/greeted") })

const systole = await Embed.open({ modules: [greet], config: { data, spaces: { create: "on-demand" } }, public: true })
const app = new Hono().all("/v1/*", ({ req }) => systole.fetch(req.raw))
const sent = await app.request("/v1/spaces/home/signals", {
  method: "POST", headers: { "content-type": "application/json", prefer: "wait=30" }, body: JSON.stringify({ signal: "/signals/greet" })
})
const { status } = await sent.json() as { readonly status: string }
const cell = await app.request("/v1/spaces/home/cells/data/greeted")
console.log(status, await cell.json())
await systole.close()
