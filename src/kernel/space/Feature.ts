/**
 * Features as the kernel takes them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Ledger } from "../../ledger/Ledger.ts"
import type { ContentStore, Descriptor } from "../../persistence/LargeContent.ts"
import { PersistenceError, StoreNeedsFeature } from "../../persistence/PersistenceError.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Reactor } from "../../reactor/Reactor.ts"
import type { PayloadDecoder } from "../../registry/Enzyme.ts"
import type * as Labels from "../../stage/Labels.ts"
import type { MakeDurableRuns } from "../beat/DurableRuns.ts"
import type { GroupCommit } from "../beat/GroupCommit.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { IsolatedReads } from "../derived/IsolatedReads.ts"
import * as Features from "../model/Feature.ts"
import type { Dependencies as ViewDependencies } from "../view/ClearedView.ts"
import type { Clearance, Reader, Space } from "../view/Space.ts"
import type { FaceHost } from "./SpaceFace.ts"
import type { Uploads } from "./Uploads.ts"

/** The parts of the API of a space that features add. */
export type Parts = Pick<Space, "rv" | "flows" | "io" | "runs" | "graph" | "debug">

/** An open space, as its features use it. */
export interface PartHost {
  readonly ledgers: FaceHost
  readonly state: LiveState
  readonly group: GroupCommit
}

/**
 * The parts of the kernel for labels: a cleared view of a space, derived cells for handlings with a confidential label, the
 * rules with those of the channels, and their decoder.
 */
export interface LabelParts {
  readonly view: (deps: ViewDependencies, clearance: Clearance) => Reader
  readonly isolated: () => IsolatedReads
  readonly rules: (rules: Labels.Rules, channels: Reactor["Service"]["channels"]) => Labels.Rules
  readonly read: typeof Labels.read
}

/** The large content of an open space: its uploads, and its parts by their descriptor. */
export interface LargeParts extends Pick<Space, "receive"> {
  readonly part: (hash: string, large: Descriptor, part: number) => ReturnType<Space["blobPart"]>
}

/** The parts of the kernel for large content: those of an open space, and the removal of the objects of a space. */
export interface ContentParts {
  readonly open: (state: LiveState, uploads: Pick<Uploads, "begin" | "open">, store: ContentStore | undefined) => LargeParts
  readonly clear: (store: ContentStore, space: string) => Promise<void>
}

/**
 * A feature of the kernel: a value that a composition gives to {@link Kernel}.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelFeature {
  /** A name of the catalogue, or the name of a feature that is not part of the runtime. */
  readonly name: string
  /** Makes its ledger over the reactor of the kernel. */
  readonly ledger?: (reactor: Reactor["Service"]) => Ledger
  /** Decodes the payloads of enzymes with a schema. */
  readonly decode?: PayloadDecoder
  readonly labels?: LabelParts
  readonly content?: ContentParts
  /** Makes the durable runs of a space. */
  readonly durable?: MakeDurableRuns
  /** Makes its parts of the API of an open space. */
  readonly parts?: (host: PartHost) => Partial<Parts>
}

/** The parts for labels, if the kernel has that feature. */
export const labelsIn = (features: ReadonlyArray<KernelFeature>): LabelParts | undefined =>
  features.find(({ labels }) => labels !== undefined)?.labels

/** The parts for large content, if the kernel has that feature. */
export const contentIn = (features: ReadonlyArray<KernelFeature>): ContentParts | undefined =>
  features.find(({ content }) => content !== undefined)?.content

/** The large content of a space. A kernel without that feature refuses it. */
export const openLarge = (features: ReadonlyArray<KernelFeature>, ...of: Parameters<ContentParts["open"]>): LargeParts => {
  const refused = () => Effect.fail(new Features.FeatureNotBuilt({ feature: "content" }))
  return contentIn(features)?.open(...of) ?? { part: refused, receive: refused }
}

/** The refusal of a store with records of a feature that is absent. */
export const needs = ({ space }: Pick<SpaceStore, "space">, feature: Features.FeatureName, folder: string): PersistenceError =>
  new PersistenceError({ reason: new StoreNeedsFeature({ space, feature, folder }) })

/**
 * Refuses a store with records of a feature that is not among the given ones: nothing would handle them.
 *
 * @throws PersistenceError
 * @category guards
 * @since 0.1.0
 */
export const checkStore = (store: Pick<SpaceStore, "below" | "space">, features: ReadonlyArray<KernelFeature>): void => {
  for (const name of Features.names) {
    if (features.some((feature) => feature.name === name)) continue
    const folder = Features.places[name].ledger?.folders.find((folder) => store.below(folder, { limit: 1 }).length > 0)
    if (folder === undefined) continue
    throw needs(store, name, folder)
  }
}
