/**
 * The port to the host's module loader: finding and importing files.
 *
 * Where files can be imported at run time, `main/` bundles a module's closure and imports the bundle. On other hosts it
 * provides a literal manifest.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { CodePlace } from "../diagnostic/CodePlace.ts"
import { TOPIC } from "../diagnostic/Topic.ts"
import * as Declares from "../registry/Declares.ts"
import type { ServiceRefused } from "../registry/Services.ts"

/**
 * An imported module.
 */
export interface LoadedModule {
  /** The requested file. */
  readonly file: string
  /** Its default export. */
  readonly module: unknown
  /** Its other exports with a type: families, cells and signals, by name. A restored module has none, since nothing registers it. */
  readonly typed?: Readonly<Record<string, Declares.Declaring>>
  /** The SHA-256 digest of the module, including all files of the project that it imports. */
  readonly hash: string
  /** The hashed text, if the host can import it again. */
  readonly text: string | undefined
  /** The host's own modules that it imports, such as `node:fs`. */
  readonly hostImports: ReadonlyArray<string>
}

/**
 * The exports of a module: the default one, and the others with a type.
 */
export const exportsOf = ({ default: module, ...others }: { readonly default?: unknown }): Pick<LoadedModule, "module" | "typed"> => {
  const typed = Object.entries(others).filter((entry): entry is [string, Declares.Declaring] => Declares.is(entry[1]))
  return { module, ...typed.length > 0 && { typed: Object.fromEntries(typed) } }
}

/**
 * Files that changed together.
 */
export interface Change {
  /**
   * The files up to now, relative to the project; for a folder without further detail of the host, the folder. A load that began
   * earlier may have met the last ones.
   */
  readonly files: () => ReadonlyArray<string>
  /** The milliseconds since the first of them changed. */
  readonly age: () => number
}

/**
 * A module cannot be loaded or used.
 */
export class ModuleBroken extends Data.TaggedError("ModuleBroken")<{
  readonly file: string
  readonly reason: string
  /** The places in the code that the reason names, with their source lines. */
  readonly places?: ReadonlyArray<CodePlace>
  /** The refusal of its services, if they are the reason. */
  readonly refusal?: ServiceRefused
}> {
  get code(): "module/broken" | ServiceRefused["code"] {
    return this.refusal?.code ?? "module/broken"
  }
  readonly [TOPIC] = "module/broken"
  override get message() {
    return `Module ${this.file} is not loaded: ${this.reason}`
  }
}

/**
 * The service that finds and imports the modules of one project.
 */
export class ModuleHost extends Context.Service<ModuleHost, {
  /** Returns the names of the files in a folder of the project; `undefined` if the folder does not exist. */
  readonly files: (folder: string) => Effect.Effect<ReadonlyArray<string> | undefined, ModuleBroken>
  /** Imports a file of the project, or one of the runtime's own modules such as `systole/plugins/sqlite`. */
  readonly load: (file: string) => Effect.Effect<LoadedModule, ModuleBroken>
  /** Imports a module from a previous {@link LoadedModule.text}, under its hash. Without a text, only a build has modules. */
  readonly restore: (hash: string, text: string | undefined) => Effect.Effect<LoadedModule, ModuleBroken>
  /** Emits requested files that may have changed, once no further one has for a moment. */
  readonly changes: Stream.Stream<Change>
}>()("systole/loader/ModuleHost") {}
