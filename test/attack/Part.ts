/**
 * A part of the attack: one way in which one party may stop all others.
 *
 * @module
 */
import type { Random } from "../support/Random.ts"
import type { Packed, Setup, Target } from "./Targets.ts"
import { tokens } from "./Targets.ts"

/** The needs of a part in the project under attack. */
export interface Ground {
  readonly channels?: Readonly<Record<string, object>>
  readonly content?: object
  /** The source text of the field `access` of the configuration, which has functions. */
  readonly access?: string
  /** Modules by their names. */
  readonly enzymes?: Readonly<Record<string, string>>
}

/** A part that is ready: its servers listen, and its files are written. */
export interface Ready {
  readonly ground: Ground
  /** Prepares the server, before anything is measured. */
  readonly begin?: (target: Target) => Promise<void>
  /** Makes one attempt, the one with this number. It fails with the name of a broken property. */
  readonly attempt: (target: Target, n: number) => Promise<void>
  /** Checks the properties that show at the end. */
  readonly check?: (target: Target) => Promise<void>
  /** Checks the properties that show without the server under attack, and those that a soak has no time for. */
  readonly beside?: (target: Target) => Promise<void>
  readonly end?: () => Promise<void>
}

/** The surroundings of a part. */
export interface Site {
  readonly packed: Packed
  readonly draw: Random
  /** An empty folder of the part. */
  readonly folder: string
}

/** A part of the attack. */
export interface Part {
  readonly name: string
  readonly holds: string
  /** The time between two attempts, in milliseconds. */
  readonly everyMs: number
  readonly prepare: (site: Site) => Promise<Ready>
}

/** The most open spaces. */
export const OPEN = 40

/** The space that takes no part in any attack. */
export const bystander = "/v1/spaces/bystander/signals"

const small = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "small", query: "/signals/small", run: (tx) => tx.increment("/data/count") })
`

/** A project that is the ground of all the given parts. */
export const project = (name: string, grounds: ReadonlyArray<Ground>, enzymes: Readonly<Record<string, string>> = {}): Setup => {
  const channels = Object.assign({}, ...grounds.map(({ channels }) => channels)) as object
  const content = grounds.find(({ content }) => content !== undefined)?.content
  const access = grounds.find(({ access }) => access !== undefined)?.access
  const readers = { web: { token: tokens.web, clearance: [] } }
  const fields = {
    tempo: 0,
    token: tokens.operator,
    spaces: { create: "on-demand", open: OPEN },
    agent: {},
    labels: { cells: { "/data/pay/**": ["salary"], "/data/pay": ["salary"] }, readers },
    channels,
    ...content === undefined ? {} : { content }
  }
  return {
    name,
    config: [
      ...Object.entries(fields).map(([field, value]) => `${field}: ${JSON.stringify(value)}`),
      ...access === undefined ? [] : [`access: ${access}`]
    ].join(", "),
    enzymes: Object.assign({ small }, enzymes, ...grounds.map(({ enzymes }) => enzymes)) as Setup["enzymes"],
    token: tokens.operator
  }
}
