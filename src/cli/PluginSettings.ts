/**
 * The settings of plugins for their commands.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { PluginSettings } from "../loader/PluginOptions.ts"
import * as DataFolder from "./DataFolder.ts"

/**
 * The settings of a plugin in the configuration of the project, in the environment of `--env`; `undefined` without them. Fails with
 * `server/flag` for a command with `--server`, since the project of another server is elsewhere.
 *
 * @category getters
 * @since 0.2.0
 */
export const pluginSettings = <Name extends keyof PluginSettings>(name: Name) =>
  Effect.map(DataFolder.config, ({ parts }) => parts[name] as PluginSettings[Name] | undefined)
