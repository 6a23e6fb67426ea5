/**
 * The features of a build: those that its modules and its configuration use.
 *
 * @module
 */
import { type FeatureName, names } from "../../kernel/model/Feature.ts"
import type * as Config from "../../loader/Config.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"

/** The words by which code uses a feature. A word in another meaning costs bytes only. */
const words: Readonly<Partial<Record<FeatureName, RegExp>>> = {
  schema: /effect(?:\/Schema)?["']/,
  rendezvous: /\brv\b|\brendezvous\b/i,
  flows: /\bflows?\b|\bmailroom\b/i,
  requests: /\bio\b/,
  durable: /\bdurable\b/
}

/** The features without which another one cannot be used. */
const needs: Readonly<Partial<Record<FeatureName, ReadonlyArray<FeatureName>>>> = { flows: ["rendezvous"], durable: ["requests"] }

/** The uses of features in a project. */
export interface Uses {
  readonly settings: Pick<Config.Settings, "agent" | "channels" | "content" | "features" | "readers"> & {
    readonly kernel: Pick<Config.Settings["kernel"], "labels">
  }
  readonly enzymes: ReadonlyArray<Pick<Enzyme, "durable" | "payload">>
  /** The code of its modules, with the packages that they import. */
  readonly code: string
}

/**
 * The features of a build, in the order of the catalogue.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = ({ code, enzymes, settings }: Uses): ReadonlyArray<FeatureName> => {
  const { agent, channels, content, features, kernel: { labels }, readers } = settings
  const used = new Set<FeatureName>(features)
  for (const name of names) if (words[name]?.test(code) === true) used.add(name)
  if (Object.keys(channels).length > 0 || agent !== undefined) used.add("requests")
  if (content !== undefined) used.add("content")
  if (labels !== undefined || readers.length > 0) used.add("labels")
  if (enzymes.some(({ durable }) => durable === true)) used.add("durable")
  if (enzymes.some(({ payload }) => payload !== undefined)) used.add("schema")
  return withNeeds(used)
}

/**
 * Features with those that they need, in the order of the catalogue.
 *
 * @category getters
 * @since 0.1.0
 */
export const withNeeds = (features: Iterable<FeatureName>): ReadonlyArray<FeatureName> => {
  const all = new Set(features)
  for (const name of all) for (const needed of needs[name] ?? []) all.add(needed)
  return names.filter((name) => all.has(name))
}
