/**
 * Features as the ingress takes them.
 *
 * @module
 */
import type { Hono } from "hono"
import * as Features from "../kernel/model/Feature.ts"
import type { KernelFeature } from "../kernel/space/Feature.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { Lists } from "./Lists.ts"
import type * as ReaderRoutes from "./ReaderRoutes.ts"
import type { RouteContext } from "./RouteContext.ts"

/** The functions that the routes of features share. */
export interface FeatureContext extends RouteContext {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
  /** Whether this is a development server, which has the routes of the debugger. */
  readonly isDebugged: boolean
}

/**
 * A feature of the runtime, as its composition gives it to the kernel and to the ingress.
 *
 * @category models
 * @since 0.1.0
 */
export interface Feature extends KernelFeature {
  /** Makes the handler of the requests of readers. */
  readonly readers?: typeof ReaderRoutes.make
  /** Its routes that concern no space. */
  readonly lists?: Lists
  /** Adds its routes that concern a space. */
  readonly routes?: (app: Hono, context: FeatureContext) => void
}

/**
 * Adds the routes of the given features. A route of any other feature of the catalogue is answered with `feature/not-built`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, features: ReadonlyArray<Feature>, context: FeatureContext): void => {
  for (const { routes } of features) routes?.(app, context)
  for (const feature of Features.names) {
    if (features.some(({ name }) => name === feature) || feature === "debug" && !context.isDebugged) continue
    for (const path of Features.places[feature].routes) {
      app.all(`${path}/*`, () => {
        throw new Features.FeatureNotBuilt({ feature })
      })
    }
  }
}

/**
 * The failure for a path that concerns no space and belongs to a feature of the catalogue that is not given.
 *
 * @category getters
 * @since 0.1.0
 */
export const unbuilt = (features: ReadonlyArray<Feature>, path: string): Features.FeatureNotBuilt | undefined => {
  const isAt = (route: string) => path === route || path.startsWith(`${route}/`)
  const feature = Features.names.find((name) => Features.places[name].routes.some(isAt))
  return feature === undefined || features.some(({ name }) => name === feature) ? undefined : new Features.FeatureNotBuilt({ feature })
}
