/**
 * The host's part in loading modules: finding files and importing them.
 *
 * A port, because hosts differ: where files can be imported while running,
 * `main/` bundles a module's closure and imports the bundle; elsewhere it gives
 * a literal manifest. (Architecture, section 4.)
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/**
 * A module that was imported.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoadedModule {
  /** Its file, as it was asked for. */
  readonly file: string
  /** Its default export. */
  readonly module: unknown
  /** The SHA-256 of the module together with all of the project's files that it imports. */
  readonly hash: string
  /** What was hashed, where the host can import it again. */
  readonly text: string | undefined
  /** The host's own modules that it imports, such as `node:fs`. */
  readonly hostImports: ReadonlyArray<string>
}

/**
 * A module cannot be used.
 *
 * @category errors
 * @since 0.1.0
 */
export class ModuleBroken extends Schema.TaggedError<ModuleBroken>()("ModuleBroken", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly code = "module/broken"
  override get message() {
    return `Module ${this.file} is not loaded: ${this.reason}`
  }
}

/**
 * Finds and imports the modules of one project.
 *
 * @category services
 * @since 0.1.0
 */
export class ModuleHost extends Context.Service<ModuleHost, {
  /** The names of the files in a folder of the project; `undefined` where there is no such folder. */
  readonly files: (folder: string) => Effect.Effect<ReadonlyArray<string> | undefined, ModuleBroken>
  /** Imports a file of the project, or one of the runtime's own modules such as `systole/plugins/sqlite`. */
  readonly load: (file: string) => Effect.Effect<LoadedModule, ModuleBroken>
  /** Imports a module from a text that {@link LoadedModule} gave once, under its hash. */
  readonly recall: (hash: string, text: string) => Effect.Effect<LoadedModule, ModuleBroken>
  /** Tells, now and then, that files which were asked for may have changed. */
  readonly changes: Stream.Stream<void>
}>()("systole/loader/ModuleHost") {}
