/**
 * A page with both hooks, for a browser.
 *
 * @module
 */
import { createElement, StrictMode, version } from "react"
import { createRoot } from "react-dom/client"
import { Cell, Schema, Signal } from "systole/cells"
import { connect } from "systole/client"
import { SpaceProvider, useCell, useSignal } from "systole/react"

/** The declarations of the page and of its server. */
export const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
export const Orders = Cell.family("/data/orders/:id", Order)
export const Place = Signal.make("/signals/order/:id/place", Schema.Struct({ item: Schema.String, count: Schema.Natural }))

const Row = ({ id }: { readonly id: string }) => {
  const { status, value } = useCell(Orders.at({ id }))
  const { error, isSending, send } = useSignal(Place)
  return createElement(
    "p",
    null,
    createElement("b", { id: "shown" }, `React ${version.split(".")[0]}: ${status} ${value?.item ?? "-"} ${value?.count ?? "-"}`),
    createElement("i", { id: "said" }, isSending ? "sending" : error?.code ?? "still"),
    ...[2, 100].map((count) => createElement(
      "button",
      { key: count, onClick: () => void send({ params: { id }, payload: { item: "tea", count }, wait: "10s" }) },
      `Order ${count}`
    ))
  )
}

/** Shows the page in an element. */
export const show = (root: Element): void => {
  const page = createElement(SpaceProvider, { space: connect().space("shop") }, createElement(Row, { id: "1" }))
  createRoot(root).render(createElement(StrictMode, null, page))
}
