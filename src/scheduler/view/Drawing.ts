/**
 * Drawings of the graph for layout tools: DOT and Mermaid.
 *
 * @module
 */
import type { EdgeView, GraphView, NodeView } from "./Introspection.ts"

/**
 * The graph in the language of Graphviz.
 */
export const dot = ({ edges, nodes }: GraphView): string => [
  "digraph systole {",
  "  rankdir=LR",
  "  node [fontname=\"sans-serif\"]",
  ...nodes.map((node) => {
    const style = `style=${node.live ? "solid" : "dashed"}, color=${colourOf(node)}`
    return `  ${quoted(node.name)} [shape=${shapes[node.kind]}, ${style}, label=${quoted(captionOf(node).join("\n"))}]`
  }),
  ...merged(edges).map(
    ({ addresses, back, from, to }) =>
      `  ${quoted(from)} -> ${quoted(to)} [label=${quoted(addresses.join("\n"))}${back ? ", constraint=false, color=red" : ""}]`
  ),
  "}",
  ""
].join("\n")

/**
 * The graph in the language of Mermaid.
 */
export const mermaid = ({ edges, nodes }: GraphView): string => {
  const ids = new Map(nodes.map(({ name }, i) => [name, `n${i}`]))
  return [
    "flowchart LR",
    ...nodes.map((node) => {
      const [open, close] = brackets[node.kind]
      return `  ${ids.get(node.name)}${open}"${escaped(captionOf(node).join("\n"))}"${close}:::${classOf(node)}`
    }),
    ...merged(edges).map(
      ({ addresses, back, from, to }) => `  ${ids.get(from)} ${back ? "-.->" : "-->"}|"${escaped(addresses.join("\n"))}"| ${ids.get(to)}`
    ),
    "  classDef clean stroke:#2a7,stroke-width:2px",
    "  classDef unsettled stroke:#c80,stroke-width:2px",
    "  classDef failed stroke:#c22,stroke-width:3px",
    "  classDef dormant stroke:#999,stroke-dasharray:4",
    ""
  ].join("\n")
}

const shapes = { computation: "box", effect: "oval", materializer: "component" } as const
const brackets = { computation: ["[", "]"], effect: ["([", "])"], materializer: ["[[", "]]"] } as const
const colours = { clean: "seagreen", unsettled: "orange", failed: "red", dormant: "gray" } as const

/** The state of a node, as the name of a colour. */
const classOf = ({ error, live, status, streak }: NodeView): keyof typeof colours => {
  if (error !== undefined || streak > 0) return "failed"
  if (!live) return "dormant"
  return status === "clean" ? "clean" : "unsettled"
}

const colourOf = (node: NodeView): string => colours[classOf(node)]

const captionOf = ({ episodes, eligibleAt, heldBy, name, outputs, runs, status }: NodeView): ReadonlyArray<string> => [
  name,
  ...outputs,
  `${status}, ${runs} ${runs === 1 ? "run" : "runs"}`,
  ...(heldBy === undefined ? [] : [`${heldBy} until ${eligibleAt}`]),
  ...(episodes === 0 ? [] : [`restless ${episodes} ${episodes === 1 ? "time" : "times"}`])
]

/** One arrow between two nodes, for all reads between them. */
const merged = (edges: ReadonlyArray<EdgeView>) => {
  const arrows = new Map<string, { readonly from: string; readonly to: string; back: boolean; readonly addresses: Array<string> }>()
  for (const { address, back, from, to } of edges) {
    const key = JSON.stringify([from, to])
    const arrow = arrows.get(key) ?? { from, to, back, addresses: [] }
    arrows.set(key, arrow)
    arrow.addresses.push(address)
    arrow.back ||= back
  }
  return [...arrows.values()]
}

const quoted = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`

const escaped = (text: string): string =>
  text.replaceAll("&", "#amp;").replaceAll('"', "#quot;").replaceAll("<", "#lt;").replaceAll(">", "#gt;").replaceAll("\n", "<br/>")
