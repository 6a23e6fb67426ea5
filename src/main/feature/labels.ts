/**
 * Labels: readers with a clearance, and derived cells for handlings with a confidential label.
 *
 * @module
 */
import type { Feature } from "../Feature.ts"
import * as ReaderRoutes from "../../ingress/ReaderRoutes.ts"
import { IsolatedReads } from "../../kernel/derived/IsolatedReads.ts"
import { ClearedView } from "../../kernel/view/ClearedView.ts"
import * as ChannelLabels from "../../reactor/ChannelLabels.ts"
import * as Labels from "../../stage/Labels.ts"

/**
 * The feature `labels`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "labels",
  labels: {
    isolated: () => new IsolatedReads(),
    read: Labels.read,
    rules: ChannelLabels.added,
    view: (deps, clearance) => new ClearedView(deps, clearance)
  },
  readers: ReaderRoutes.make
}
