/**
 * The dashboard: a page that follows `/data/dashboard`.
 *
 * The stream sends the current value, and each new value after the beat that changed it. A browser that loses the stream
 * reconnects with the id of its last event.
 *
 * @module
 */

const space = "/v1/spaces/shop"

export const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shop</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 3rem auto; padding: 0 1rem }
  #takings { font-size: 3.5rem; font-weight: 650; font-variant-numeric: tabular-nums }
  table { width: 100%; border-collapse: collapse; margin: 1.5rem 0 }
  td, th { text-align: left; padding: .5rem 0; border-top: 1px solid #8884; font-variant-numeric: tabular-nums }
  button { font: inherit; padding: .2rem .8rem }
  #said { min-height: 1.5em; opacity: .7 }
</style>
<h1>Takings</h1>
<div id="takings">–</div>
<div><span id="orders">0</span> orders</div>
<table><thead><tr><th>Item<th>Price<th>Left<th></tr></thead><tbody id="items"></tbody></table>
<p id="said">Connecting …</p>
</html>
`

export const script = `
const at = (id) => document.getElementById(id)
const cell = (content) => {
  const td = document.createElement("td")
  td.append(content)
  return td
}

// An order goes on without the page. One that takes more than 5 s is asked for by its receipt.
const receiptOf = async (response, item) => {
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.detail)
  if (response.status === 200 && answer.status !== "pending") return answer
  at("said").textContent = "The order of one " + item + " is under way …"
  const receipt = "${space}/receipts/" + encodeURIComponent(answer.id)
  return receiptOf(await fetch(receipt, { headers: { prefer: "wait=60" } }), item)
}

const place = async (item) => {
  const response = await fetch("${space}/signals", {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=5" },
    body: JSON.stringify({ signal: "/signals/order/place", target: "/data/products/" + item, payload: { count: 1 } })
  })
  const { handlings: [handling] } = await receiptOf(response, item)
  if (handling === undefined || handling.outcome !== "ok") throw new Error("it failed.")
  return handling.value.placed ? "One " + item + " is yours." : "There is no " + item + " left."
}

const order = async (item) => {
  at("said").textContent = await place(item).catch((error) => "The order of one " + item + ": " + error.message)
}

const row = ({ item, left, price }) => {
  const tr = document.createElement("tr")
  const button = document.createElement("button")
  button.textContent = "Order"
  button.onclick = () => order(item)
  tr.append(cell(item), cell(price), cell(left), cell(button))
  return tr
}

const stream = new EventSource("${space}/cells/data/dashboard")
stream.onopen = () => at("said").textContent = "Live."
stream.onerror = () => at("said").textContent = "Lost, and trying again …"
stream.addEventListener("value", ({ data }) => {
  const { items, orders, takings } = JSON.parse(data)
  at("takings").textContent = takings
  at("orders").textContent = orders
  at("items").replaceChildren(...items.map(row))
})
`
