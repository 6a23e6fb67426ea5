/**
 * The isolated reads of a space, where the kernel has them.
 *
 * @module
 */
import { FeatureNotBuilt } from "../model/Feature.ts"
import type { IsolatedReads } from "./IsolatedReads.ts"

/**
 * The isolated reads. The kernel refuses rules on labels where it has none, so only a broken composition fails here.
 *
 * @throws FeatureNotBuilt
 * @category getters
 * @since 0.1.0
 */
export const isolatedOf = ({ isolated }: { readonly isolated: IsolatedReads | undefined }): IsolatedReads => {
  if (isolated === undefined) throw new FeatureNotBuilt({ feature: "labels" })
  return isolated
}
