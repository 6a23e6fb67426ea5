/**
 * The reference of the HTTP interface, made from the endpoints that an application serves.
 *
 * @module
 */
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import * as Fields from "../../src/contract/Fields.ts"
import { SPACE } from "../../src/contract/Paths.ts"

/** The groups of the reference, in order, each with the path segments of its endpoints below a space. */
const groups: ReadonlyArray<readonly [title: string, segments: ReadonlyArray<string>]> = [
  ["The runtime", [""]],
  ["Signals", ["signals", "receipts", "waiting", "dead", "denials"]],
  ["State", ["cells", "beats", "blobs"]],
  ["A space as a whole", ["control", "clock", "locks", "debug"]],
  ["Operations", ["ops"]],
  ["Rendezvous", ["rv"]],
  ["Flows", ["flows"]],
  ["Requests to the world", ["io"]],
  ["Durable runs", ["runs"]],
  ["Inspection", ["graph", "journal", "replay", "why", "explain"]]
]

/** The first segment of a path below a space; empty for one that concerns no space, or a space as such. */
const segmentOf = ({ path }: Endpoint): string => path.startsWith(`${SPACE}/`) ? path.slice(SPACE.length + 1).split("/")[0]! : ""

const code = (text: string): string => `\`${text}\``

/** The query, the headers and the body of an endpoint; empty for none. */
const takenBy = ({ body, content, headers, query }: Endpoint): string => {
  const fields = content === undefined ? Fields.of(body as Parameters<typeof Fields.of>[0]) : []
  const parameters = Fields.of(query).map(({ means, name, type }) => {
    if (type === "flag") return code(`?${name}`)
    return means.startsWith(" ") ? `${code(`?${name}=`)}${means}` : code(`?${name}=${means}`)
  })
  return [
    ...content === undefined ? [] : [content],
    ...fields.length === 0 ? [] : [code(`{ ${fields.map(({ isOptional, name }) => isOptional ? `${name}?` : name).join(", ")} }`)],
    ...parameters.length === 0 ? [] : [parameters.join(", ")],
    ...headers.map(code)
  ].join("; ")
}

/** The effect of each switch of a query, as sentences. */
const switchesOf = ({ query }: Endpoint): string =>
  Fields.of(query).filter(({ means, type }) => type === "flag" && means !== "").map(({ means, name }) => ` \`?${name}\`: ${means}`).join("")

/** The row of an endpoint: the request, the verb that a token needs for it, the parts that it takes, and its effect. */
const rowOf = (endpoint: Endpoint): ReadonlyArray<string> => [
  code(`${endpoint.method} ${endpoint.path.replace(`${SPACE}/`, "…/")}`),
  endpoint.access === "anyone" ? "" : endpoint.access === "holder" ? "any" : endpoint.verb,
  takenBy(endpoint),
  `${endpoint.does}${switchesOf(endpoint)}`
]

/** The groups of the reference with their rows. An endpoint that is in none has the group of its segment. */
export const sections = (endpoints: ReadonlyArray<Endpoint>): ReadonlyArray<readonly [string, ReadonlyArray<ReadonlyArray<string>>]> => {
  const grouped = new Set(groups.flatMap(([, segments]) => segments))
  const others = [...new Set(endpoints.map(segmentOf))].filter((segment) => !grouped.has(segment))
  const own = others.map((segment) => [`${segment[0]?.toUpperCase()}${segment.slice(1)}`, [segment]] as const)
  return [...groups, ...own].map(([title, segments]) =>
    [title, endpoints.filter((endpoint) => segments.includes(segmentOf(endpoint))).map(rowOf)] as const)
}
