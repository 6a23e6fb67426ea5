/**
 * The types of the hooks, as the author of a page meets them. The compiler checks this file, and no test runs it.
 *
 * Each `@ts-expect-error` names the mistake of the line below it.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { createElement } from "react"
import { Cell, Signal } from "systole/cells"
import { connect, type RequestFailed, type Sent } from "systole/client"
import { SpaceProvider, useCell, useSignal } from "systole/react"

const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
type Order = typeof Order.Type
const Orders = Cell.family("/data/orders/:id", Order)
const Total = Cell.of("/data/total", Schema.Natural)
const Place = Signal.make("/signals/order/:id/place", Order)
const Refresh = Signal.make("/signals/refresh", Schema.UndefinedOr(Schema.String))

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

/** Inferred types, without an annotation. */
export const Inferred = ({ id }: { readonly id: string | undefined }) => {
  const { error, value } = useCell(Orders.at({ id: "1" }))
  same<typeof value, Order | undefined>(true)
  same<typeof error, RequestFailed | undefined>(true)
  const count = useCell(Cell.into(Orders.at({ id: "1" }), "count")).value
  same<typeof count, number | undefined>(true)
  const later = useCell(id === undefined ? undefined : Orders.at({ id })).value
  same<typeof later, Order | undefined>(true)
  const text = useCell("/data/untyped").value
  same<typeof text, unknown>(true)
  const named = useCell<number>("/data/untyped", { initial: 1 }).value
  same<typeof named, number | undefined>(true)
  const place = useSignal(Place)
  const sent = place.send({ params: { id: "1" }, payload: { item: "tea", count: 1 }, wait: 5 })
  same<typeof sent, Promise<Sent | undefined>>(true)
  void useSignal(Refresh).send()
  void useSignal("/signals/untyped").send({ payload: { any: 1 } })
  return createElement(SpaceProvider, { space: connect().space("shop") }, String(value?.item), count)
}

/** Mistakes of which each does not compile. */
export const Mistaken = () => {
  // @ts-expect-error a family is no cell: its :id is open
  useCell(Orders)
  // @ts-expect-error the name of the family is id
  useCell(Orders.at({ key: "1" }))
  // @ts-expect-error the cell holds a number
  useCell(Total, { initial: "1" })
  // @ts-expect-error the order has no field price
  void useCell(Orders.at({ id: "1" })).value?.price
  // @ts-expect-error the value may not be there yet
  void useCell(Orders.at({ id: "1" })).value.count
  // @ts-expect-error the signal has a name and a payload
  void useSignal(Place).send()
  // @ts-expect-error the payload has a count
  void useSignal(Place).send({ params: { id: "1" }, payload: { item: "tea" } })
  // @ts-expect-error the name of the signal is id
  void useSignal(Place).send({ params: { key: "1" }, payload: { item: "tea", count: 1 } })
  // @ts-expect-error a cell is no signal
  useSignal(Total)
  // @ts-expect-error a provider has a space
  return createElement(SpaceProvider, {})
}
