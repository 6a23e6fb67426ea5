/**
 * A page of another site, which follows and uses the shop. The server of its own site gives it bearers.
 *
 * @module
 */
import { connect, renewed } from "systole/client"
import { Dashboard, Orders, Place, Products } from "../../examples/shop/cells.ts"

const shop = connect({
  url: `${location.protocol}//shop.example`,
  token: renewed(async () => (await fetch("/bearer", { method: "POST" })).json())
}).space("shop")

const show = (id: string, text: string): void => document.querySelector(`#${id}`)?.replaceChildren(text)

shop.watch(Dashboard, { onState: (state) => show("said", state) })
  .each(({ value }) => show("takings", String(value?.takings)))
  .catch(({ message }: Error) => show("said", `Ended: ${message}`))

document.querySelector("button")?.addEventListener("click", async () => {
  const { id } = await shop.signal(Place, { target: Products.at({ item: "tea" }), payload: { count: 1 }, wait: "60s" })
  show("order", String((await shop.get(Orders.at({ id })))?.item))
})
