/**
 * The reference of the interface as a server gives it: the OpenAPI document, and a page of it without a script.
 *
 * @module
 */
import type { Endpoint } from "../contract/Endpoint.ts"
import * as Refusals from "../contract/EndpointRefusals.ts"
import * as Fields from "../contract/Fields.ts"
import * as OpenApi from "../contract/OpenApi.ts"
import { type REFERENCE, SPACE } from "../contract/Paths.ts"

/** A part of the reference: its text, and the headers of the response with it. */
export interface Part {
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** The parts of each list of endpoints, which does not change while a server runs. */
const made = new WeakMap<ReadonlyArray<Endpoint>, Partial<Record<Path, Part>>>()

type Path = typeof REFERENCE[number]

/**
 * The part of the reference at a path, which is made when it is first asked for.
 */
export const part = (endpoints: ReadonlyArray<Endpoint>, path: Path): Part => {
  let parts = made.get(endpoints)
  if (parts === undefined) made.set(endpoints, parts = {})
  return parts[path] ??= parted[path](endpoints)
}

/** The OpenAPI document of endpoints. */
const document = (endpoints: ReadonlyArray<Endpoint>): Part =>
  ({ text: JSON.stringify(OpenApi.make(endpoints)), headers: { "content-type": "application/json", "cache-control": "no-cache" } })

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
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

/** The page of endpoints, by the first segments of their paths. */
const page = (endpoints: ReadonlyArray<Endpoint>): Part => {
  const groups = Map.groupBy(endpoints, OpenApi.tagOf)
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Systole: HTTP</title>` +
    `<meta name="viewport" content="width=device-width"><style>${style}</style><h1>HTTP</h1>` +
    `<p>Paths with … begin with <code>${SPACE}/</code>. The document for tools is <a href="/openapi.json">/openapi.json</a>.</p>` +
    [...groups].map(([tag, group]) => `<h2>${html(tag)}</h2>${group.map(sectionOf).join("")}`).join("")
  return { text, headers }
}

const parted: Readonly<Record<Path, (endpoints: ReadonlyArray<Endpoint>) => Part>> = { "/openapi.json": document, "/docs": page }
