/**
 * The contents of a build: the modules and the configuration of a project.
 *
 * @module
 */
import type { SliceName } from "../../ledger/SliceTable.ts"
import type * as Config from "../../loader/Config.ts"
import type { LoadedModule } from "../../loader/ModuleHost.ts"

/** A module of a build: its text, the digest of the text, and the names of its exports with a type. */
export type Module = Pick<LoadedModule, "file" | "hash" | "hostImports"> & { readonly text: string; readonly typed: ReadonlyArray<string> }

/**
 * The contents of a build.
 */
export interface Contents {
  readonly version: string
  readonly environment: string | undefined
  readonly settings: Config.Settings
  /** Its slices, in the order of their table. */
  readonly slices: ReadonlyArray<SliceName>
  readonly modules: ReadonlyArray<Module>
  /** The modules of the commands of its plugins, on a platform with commands. */
  readonly commands: ReadonlyArray<Module>
  /** The module of the configuration, if it renders pages, has webhooks or accepts JSON Web Tokens. */
  readonly pages: Module | undefined
  /** The texts of the modules of its pages, by their files. */
  readonly scripts: Readonly<Record<string, string>>
  /** Whether one of its modules declares a type. An earlier one may, since it is not loaded. */
  readonly isTyped: boolean
  /** Whether one of its modules has a cron expression, in the same way. */
  readonly hasCron: boolean
  /** Earlier modules. */
  readonly kept: ReadonlyArray<Pick<Module, "hash" | "text">>
}
