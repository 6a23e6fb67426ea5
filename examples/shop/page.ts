/**
 * The script of the page: it follows the dashboard, and places orders.
 *
 * The client goes on after the last value when the connection breaks, and sends an order once, however often it repeats the request.
 *
 * @module
 */
import { connect, type RequestFailed } from "systole/client"
import { Dashboard, Place, Products } from "./cells.ts"

const shop = connect().space("shop")

const at = (id: string): Element => document.querySelector(`#${id}`) ?? document.body

const say = (text: string): void => at("said").replaceChildren(text)

/** Whether the enzyme that took an order placed it. */
const isPlaced = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "placed" in value && value.placed === true

/** Places an order for one item, and gives the answer in words. The order goes on without the page. */
const place = async (item: string): Promise<string> => {
  const { id, receipt: first } = await shop.signal(Place, { target: Products.at({ item }), payload: { count: 1 }, wait: "5s" })
  let receipt = first
  while (receipt === undefined || receipt.status === "pending") {
    say(`The order of one ${item} is under way …`)
    receipt = await shop.receipt(id, { wait: "60s" })
  }
  if (receipt.status !== "handled") return `The order of one ${item} failed.`
  return receipt.handlings.some(({ value }) => isPlaced(value)) ? `One ${item} is yours.` : `There is no ${item} left.`
}

const order = (item: string): Promise<void> =>
  place(item).then(say, ({ message }: Error) => say(`The order of one ${item}: ${message}`))

const button = (item: string): HTMLButtonElement => {
  const button = document.createElement("button")
  button.append("Order")
  button.onclick = () => order(item)
  return button
}

const row = (...contents: ReadonlyArray<string | Node>): HTMLTableRowElement => {
  const row = document.createElement("tr")
  for (const content of contents) row.insertCell().append(content)
  return row
}

/** The connection in words. A stream that the server refuses for good ends. */
const live = (state: string, failure?: RequestFailed): void => {
  if (state === "live") say("Live.")
  if (state === "waiting") say(failure?.code === "space/unknown" ? "There is no shop yet." : "Lost, and trying again …")
}

shop.watch(Dashboard, { onState: live }).each(({ value }) => {
  const { items, orders, takings } = value ?? { items: [], orders: 0, takings: 0 }
  at("takings").replaceChildren(String(takings))
  at("orders").replaceChildren(String(orders))
  at("items").replaceChildren(...items.map(({ item, left, price }) => row(item, String(price), String(left), button(item))))
}).catch(({ message }: Error) => say(`Ended: ${message}`))
