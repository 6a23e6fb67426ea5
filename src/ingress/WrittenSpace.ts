/**
 * The space that a request writes to.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Space } from "../kernel/view/Space.ts"

/**
 * The space that a request writes to. It is created on demand if the configuration allows that.
 *
 * `check` runs before a space is created: if it throws, no space is created. An existing space validates by itself.
 *
 * @category constructors
 * @since 0.2.0
 */
export const find = (kernel: Kernel["Service"], name: string, check: () => void = () => {}): Space | Promise<Space> =>
  kernel.opened(name) ?? Effect.runPromise(kernel.space(name, { create: false }).pipe(
    Effect.catchIf((error) => error.code === "space/unknown", () => Effect.andThen(Effect.sync(check), kernel.space(name)))
  ))
