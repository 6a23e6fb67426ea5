/**
 * The reference of the interface as a server gives it: the OpenAPI document, and a page of it without a script.
 *
 * @module
 */
import type { Endpoint } from "../contract/Endpoint.ts"
import * as Refusals from "../contract/EndpointRefusals.ts"
import * as Fields from "../contract/Fields.ts"
import * as OpenApi from "../contract/OpenApi.ts"
import { SPACE } from "../contract/Paths.ts"

/** The texts of each list of endpoints, which does not change while a server runs. */
const made = new WeakMap<ReadonlyArray<Endpoint>, { document?: string; page?: string }>()

const madeOf = (endpoints: ReadonlyArray<Endpoint>): { document?: string; page?: string } => {
  let texts = made.get(endpoints)
  if (texts === undefined) made.set(endpoints, texts = {})
  return texts
}

/**
 * The response with the OpenAPI document of endpoints.
 */
export const openApi = (endpoints: ReadonlyArray<Endpoint>): Response => {
  const text = madeOf(endpoints).document ??= JSON.stringify(OpenApi.make(endpoints))
  return new Response(text, { headers: { "content-type": "application/json", "cache-control": "no-cache" } })
}

const headers = {
  "content-type": "text/html; charset=utf-8",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" }

/** A text in HTML, whose parts between back quotes are code. */
const html = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (char) => entities[char] ?? "").replaceAll(/`([^`]*)`/g, "<code>$1</code>")

const listed = (name: string, parts: ReadonlyArray<string>): string =>
  parts.length === 0 ? "" : `<dt>${name}</dt><dd>${parts.map((part) => `<code>${html(part)}</code>`).join(" ")}</dd>`

const fieldsOf = (schema: Parameters<typeof Fields.of>[0]): ReadonlyArray<string> =>
  Fields.of(schema).map(({ isOptional, name }) => isOptional ? `${name}?` : name)

const sectionOf = (endpoint: Endpoint): string => {
  const { access, bodies = {}, body, content, does, headers, method, path, query, verb } = endpoint
  const refusals = [...Refusals.byStatus(endpoint)].sort(([a], [b]) => a - b)
    .map(([status, codes]) => `<dt>${status}</dt><dd>${codes.map((code) => `<code>${code}</code>`).join(" ")}</dd>`)
  return `<details><summary><b>${method}</b> <code>${html(path.replace(`${SPACE}/`, "…/"))}</code></summary><p>${html(does)}</p><dl>${[
    listed("query", fieldsOf(query)),
    content === undefined ? listed("body", fieldsOf(body as Parameters<typeof Fields.of>[0])) : `<dt>body</dt><dd>${html(content)}</dd>`,
    listed("also", Object.keys(bodies)),
    listed("headers", headers),
    `<dt>for</dt><dd>${access === "anyone" ? access : `${access}, or a token with <code>${verb}</code>`}</dd>`,
    ...refusals
  ].join("")}</dl></details>`
}

const style = "body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
  "summary{cursor:pointer;padding:.3rem 0}dl{display:grid;grid-template-columns:6rem 1fr;gap:.2rem 1rem}" +
  "dd{margin:0}b{display:inline-block;width:5rem}"

/**
 * The response with the page of endpoints, by the first segments of their paths.
 */
export const page = (endpoints: ReadonlyArray<Endpoint>): Response => {
  const groups = Map.groupBy(endpoints, OpenApi.tagOf)
  const text = madeOf(endpoints).page ??= `<!doctype html><html lang="en"><meta charset="utf-8"><title>Systole: HTTP</title>` +
    `<meta name="viewport" content="width=device-width"><style>${style}</style><h1>HTTP</h1>` +
    `<p>Paths with … begin with <code>${SPACE}/</code>. The document for tools is <a href="/openapi.json">/openapi.json</a>.</p>` +
    [...groups].map(([tag, group]) => `<h2>${html(tag)}</h2>${group.map(sectionOf).join("")}`).join("")
  return new Response(text, { headers })
}
