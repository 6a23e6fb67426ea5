/**
 * Restores the code of earlier modules, for replays and for the durable runs that began with it.
 *
 * The kernel stores the texts of modules but cannot import them; the host provides
 * this service. A host that imports nothing has modules without texts.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { Provider } from "../../registry/Services.ts"
import type { Definition } from "../../scheduler/definition/Definition.ts"

/** The exports of a module. */
export interface RestoredModule {
  readonly enzymes: ReadonlyArray<Enzyme>
  readonly nodes: ReadonlyArray<Definition>
  /** The services of a plugin, or the reason why they cannot be built; `undefined` for a module without services. */
  readonly services?: Provider | string | undefined
}

/**
 * Returns the enzymes and nodes of a module from its verified text, or by its digest alone if there is no text; or the reason of a
 * failure.
 */
export type ModuleRestore = (digest: string, text: string | undefined) => Promise<RestoredModule | string>

/**
 * The provider of restored code; by default there is none.
 */
export const ModuleRestore = Context.Reference<ModuleRestore>("systole/kernel/ModuleRestore", {
  defaultValue: () => () => Promise.resolve("nothing here imports modules")
})
