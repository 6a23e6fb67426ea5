/**
 * Features as the hosts take them.
 *
 * @module
 */
import type * as Ingress from "../ingress/Feature.ts"
import { type FeatureName, FeatureNotBuilt } from "../kernel/model/Feature.ts"
import type * as ContentProvider from "../loader/ContentProvider.ts"
import type * as Loader from "../loader/Loader.ts"

/**
 * A feature of the runtime, with its parts for a host.
 *
 * @category models
 * @since 0.1.0
 */
export interface Feature extends Ingress.Feature {
  /** Makes the channels of a configuration. */
  readonly channels?: typeof Loader.channels
  /** Opens the content store of a configuration. */
  readonly contentStore?: typeof ContentProvider.open
}

/**
 * A part for a configuration that uses it.
 *
 * @throws FeatureNotBuilt
 * @category getters
 * @since 0.1.0
 */
export const part = <Part extends "channels" | "contentStore">(
  features: ReadonlyArray<Feature>,
  feature: FeatureName,
  part: Part
): NonNullable<Feature[Part]> => {
  const found = features.find(({ name }) => name === feature)?.[part]
  if (found === undefined) throw new FeatureNotBuilt({ feature })
  return found
}
