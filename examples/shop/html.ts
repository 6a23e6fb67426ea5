/**
 * The HTML of the page. `page.ts` fills it.
 *
 * @module
 */

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
