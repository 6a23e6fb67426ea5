/**
 * Features: the parts of the runtime that a build may leave out.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The place of a feature in the runtime, as far as a build without it has to know it. */
interface Place {
  /** The name of its ledger, and the folders with the documents of that ledger. */
  readonly ledger?: { readonly name: string; readonly folders: ReadonlyArray<string> }
  /** The paths of its routes. */
  readonly routes: ReadonlyArray<string>
}

/** The catalogue of features, in the order in which a beat advances their ledgers. */
export const catalogue = {
  schema: { routes: [] },
  labels: { routes: [] },
  rendezvous: { ledger: { name: "rv", folders: ["/data/rv"] }, routes: ["/v1/spaces/:space/rv"] },
  flows: { ledger: { name: "flow", folders: ["/data/flow/inst"] }, routes: ["/v1/flows", "/v1/spaces/:space/flows"] },
  requests: { ledger: { name: "io", folders: ["/rt/ops/OPS:io/io_req"] }, routes: ["/v1/spaces/:space/io"] },
  durable: { ledger: { name: "run", folders: ["/sys/index/run"] }, routes: ["/v1/spaces/:space/runs"] },
  content: { routes: [] },
  history: {
    routes: ["/v1/spaces/:space/journal", "/v1/spaces/:space/replay", "/v1/spaces/:space/why", "/v1/spaces/:space/explain"]
  },
  graph: { routes: ["/v1/spaces/:space/graph"] },
  debug: { routes: ["/v1/spaces/:space/debug"] }
} as const satisfies Readonly<Record<string, Place>>

/** The name of a feature. */
export type FeatureName = keyof typeof catalogue

/** The names of all features. */
export const names = Object.keys(catalogue) as ReadonlyArray<FeatureName>

/** The catalogue with each place in its widest form. */
export const places: Readonly<Record<FeatureName, Place>> = catalogue

/**
 * The feature of a ledger.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofLedger = (ledger: string): FeatureName | undefined => names.find((name) => places[name].ledger?.name === ledger)

/**
 * The way to a build with a feature.
 *
 * @category getters
 * @since 0.1.0
 */
export const remedy = (feature: string): string => `Add features: ["${feature}"] to systole.config.ts, and build again`

/**
 * The build lacks a feature that a request, a command or a run needs.
 *
 * @category errors
 * @since 0.1.0
 */
export class FeatureNotBuilt extends Data.TaggedError("FeatureNotBuilt")<{ readonly feature: string }> {
  readonly code = "feature/not-built"
  override get message() {
    return `This build has no ${this.feature}. ${remedy(this.feature)}`
  }
}
