/**
 * The label rules that follow from the channels of a runtime.
 *
 * The cells of a channel's requests have the atoms of its clearance and of its label. So the event of a completion carries
 * them, and a reader without them sees neither a request nor its result.
 *
 * @module
 */
import type { Settings } from "./Channel.ts"
import type { Rules } from "../stage/Labels.ts"

/** The channels by their ids. */
type Channels = Iterable<readonly [id: string, settings: Pick<Settings, "clearance" | "label">]>

/** The cells of the dossier that the requests of all channels share. */
const SHARED = ["/rt/ops/OPS:io", "/rt/ops/OPS:io/envelope/**", "/rt/ops/OPS:io/history/**"]

/** All atoms of a channel. */
export const atomsOf = ({ clearance = [], label = [] }: Pick<Settings, "clearance" | "label">): ReadonlyArray<string> =>
  [...new Set([...clearance, ...label])].sort()

const patternsOf = (id: string): ReadonlyArray<string> => [`/rt/ops/*/io_req/${id}:*/**`, `/rt/ops/*/io_chan/${id}/**`]

/**
 * The rules of a space with those of its channels.
 */
export const added = (rules: Rules, channels: Channels): Rules => {
  const all = Array.from(channels, ([id, settings]) => ({ id, atoms: atomsOf(settings) }))
  const labelled = all.filter(({ atoms }) => atoms.length > 0)
  if (labelled.length === 0) return rules
  const cells: Record<string, ReadonlyArray<string>> = { ...rules.cells }
  const add = (pattern: string, atoms: ReadonlyArray<string>): void => {
    cells[pattern] = [...new Set([...cells[pattern] ?? [], ...atoms])].sort()
  }
  for (const { atoms, id } of labelled) {
    for (const pattern of patternsOf(id)) add(pattern, atoms)
    // The dossier appears with the first request, so it shows that there was one.
    for (const pattern of SHARED) add(pattern, atoms)
  }
  return { cells, declassify: rules.declassify }
}
