/**
 * The gallery: the index as an HTML page.
 *
 * The page is self-contained: it loads no script, no font and no external resource. All text from images and file names
 * is escaped.
 *
 * @module
 */
import type { Asset } from "./assets.ts"
import type { Exif } from "./exif.ts"

/**
 * Renders the page of a space from its assets, by name.
 */
export const gallery = (space: string, index: Readonly<Record<string, Asset>> = {}): string => {
  const assets = Object.entries(index)
  const figures = assets.map(([name, asset]) => figure(space, name, asset))
  const body = figures.length === 0 ? `<p class="empty">No photograph has been sent to this space yet.</p>` : figures.join("\n")
  return page(space, `${assets.length} ${assets.length === 1 ? "photograph" : "photographs"}`, body)
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

/** Escapes a text for an element or a quoted attribute. */
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? "")

const figure = (space: string, name: string, { metadata, thumbnail }: Asset): string => {
  const title = metadata?.exif.description ?? name
  const facts = metadata === undefined ? [] : [...dimensions(metadata), ...details(metadata.exif)]
  const rows = facts.map(([term, fact]) => `<div><dt>${term}</dt><dd>${escape(fact)}</dd></div>`)
  const target = metadata?.target ?? thumbnail?.target ?? name
  return `<figure>
${thumbnail === undefined ? "" : picture(space, title, thumbnail.sizes)}
<figcaption>
<h2>${escape(title)}</h2>
<p class="target">${escape(target)}</p>
<dl>${rows.join("")}</dl>
${thumbnail === undefined ? "" : sizes(space, thumbnail.sizes)}
</figcaption>
</figure>`
}

type Sizes = NonNullable<Asset["thumbnail"]>["sizes"]

const link = (space: string, address: string): string =>
  escape(`/v1/spaces/${encodeURIComponent(space)}/blobs/${encodeURIComponent(address.slice("/cas/".length))}`)

const picture = (space: string, title: string, all: Sizes): string => {
  const largest =
    all.reduce<Sizes[number] | undefined>((best, size) => best === undefined || size.width > best.width ? size : best, undefined)
  if (largest === undefined) return ""
  const set = all.map((size) => `${link(space, size.address)} ${size.width}w`).join(", ")
  return `<img src="${link(space, largest.address)}" srcset="${set}" sizes="(min-width: 22rem) 20rem, 90vw"
  width="${largest.width}" height="${largest.height}" alt="${escape(title)}" loading="lazy">`
}

const sizes = (space: string, all: Sizes): string =>
  `<p class="sizes">${all.map((size) => `<a href="${link(space, size.address)}">${size.width} × ${size.height}</a>`).join("")}</p>`

type Fact = readonly [term: string, fact: string]

const dimensions = (metadata: NonNullable<Asset["metadata"]>): ReadonlyArray<Fact> => [
  ["Size", `${metadata.width} × ${metadata.height}`],
  ["File", `${metadata.format.toUpperCase()}, ${Math.ceil(metadata.bytes / 1024)} KiB`]
]

const details = (exif: Exif): ReadonlyArray<Fact> => {
  const { aperture, copyright, exposureSeconds, focalLengthMm, iso, latitude, longitude, taken } = exif
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Camera", camera(exif)],
    ["Lens", exif.lens],
    ["Taken", taken?.replace("T", " ")],
    ["Exposure", exposureSeconds === undefined ? undefined : exposure(exposureSeconds)],
    ["Aperture", aperture === undefined ? undefined : `f/${rounded(aperture)}`],
    ["ISO", iso?.toString()],
    ["Focal length", focalLengthMm === undefined ? undefined : `${rounded(focalLengthMm)} mm`],
    ["Place", latitude === undefined || longitude === undefined ? undefined : `${latitude}, ${longitude}`],
    ["By", exif.artist],
    ["Rights", copyright]
  ]
  return facts.flatMap(([term, fact]) => fact === undefined || fact === "" ? [] : [[term, fact] as const])
}

/** The make and the model. Many models start with the make. */
const camera = ({ make = "", model = "" }: Exif): string => {
  const [brand = ""] = make.split(" ")
  return model.toLowerCase().startsWith(brand.toLowerCase()) ? model : `${make} ${model}`.trim()
}

const rounded = (value: number): number => Math.round(value * 10) / 10

const exposure = (seconds: number): string => seconds >= 0.3 ? `${rounded(seconds)} s` : `1/${Math.round(1 / seconds)} s`

const page = (space: string, count: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(space)} · gallery</title>
<style>${css}</style>
</head>
<body>
<header><h1>${escape(space)}</h1><p>${count}</p></header>
<main>
${body}
</main>
</body>
</html>
`

const css = `
:root { --paper: #f6f5f3; --card: #fff; --ink: #1c1b1a; --soft: #6d6a66; --line: #e4e1dc; --mark: #b3263a }
@media (prefers-color-scheme: dark) {
  :root { --paper: #151517; --card: #1f1f22; --ink: #ececee; --soft: #9b9aa0; --line: #323237; --mark: #ff7a8a }
}
* { box-sizing: border-box; margin: 0 }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; padding: clamp(1rem, 4vw, 3rem) }
header { display: flex; align-items: baseline; gap: 1rem; max-width: 80rem; margin: 0 auto 2rem }
h1 { font-size: clamp(1.5rem, 4vw, 2.25rem); font-weight: 650; letter-spacing: -.02em; overflow-wrap: anywhere }
header p, .target, dt { color: var(--soft) }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); \
gap: 1.5rem; align-items: start; max-width: 80rem; margin: auto }
figure { background: var(--card); border: 1px solid var(--line); border-radius: 14px; overflow: hidden; box-shadow: 0 1px 3px #0001 }
img { display: block; width: 100%; height: auto; aspect-ratio: 4 / 3; object-fit: cover; background: var(--line) }
figcaption { padding: 1rem 1.15rem 1.15rem }
h2 { font-size: 1.05rem; font-weight: 600; overflow-wrap: anywhere }
.target { font: 12px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; margin-bottom: .75rem }
dl div { display: flex; justify-content: space-between; gap: 1.5rem; border-top: 1px solid var(--line); padding: .3rem 0 }
dd { text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.sizes { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .75rem }
.sizes a { color: var(--mark); text-decoration: none; font-size: 13px; \
border: 1px solid var(--line); border-radius: 99px; padding: .1rem .65rem }
.sizes a:hover { border-color: currentColor }
.empty { color: var(--soft); grid-column: 1 / -1; text-align: center; padding: 4rem 0 }
`
