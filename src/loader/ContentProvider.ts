/**
 * The content store of a configuration, from the plugin that it names.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { ContentStore } from "../persistence/LargeContent.ts"
import type { Config } from "./Config.ts"
import { InvalidConfig } from "./InvalidConfig.ts"
import type { LoadedModules } from "./Loader.ts"
import type { ContentSettings } from "./Plugin.ts"

/**
 * Makes the content store of a configuration; `undefined` if it names none.
 */
export const open = (
  found: LoadedModules,
  { content }: Pick<Config, "content">,
  place: Omit<ContentSettings, "id" | "options">
): Effect.Effect<ContentStore | undefined, InvalidConfig> => {
  if (content === undefined) return Effect.succeed(undefined)
  const { options, use } = content
  const providers = found.plugins.flatMap(({ plugin }) => plugin.name === use ? plugin.provides.content ?? [] : [])
  const [provider] = providers
  const refuse = (reason: string) => new InvalidConfig({ reason: `content: ${reason}` })
  if (provider === undefined || providers.length > 1) {
    const isAbsent = providers.length === 0
    const advice = isAbsent ? `no plugin "${use}" provides it. Use "bucket"` : `several plugins "${use}" provide it. Rename all but one`
    return Effect.fail(refuse([advice, ...found.broken.map(({ message }) => message)].join(". ")))
  }
  return Effect.try({
    try: () => provider({ ...place, id: "content", options }),
    catch: (error) => refuse(error instanceof Error ? error.message : String(error))
  })
}
