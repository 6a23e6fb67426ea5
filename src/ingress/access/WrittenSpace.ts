/**
 * The space that a request writes to.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Token } from "../../access/Token.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import type { Space } from "../../kernel/view/Space.ts"
import type { Runner } from "../wire/Runner.ts"

/** The conditions on the creation of a space. */
export interface Creation {
  /** Runs before a space is created: if it throws, no space is created. An existing space validates by itself. */
  readonly check?: (() => void) | undefined
  /** Runs the Effects of the request. */
  readonly runner: Pick<Runner, "promise">
  /** The token of the request, if it has one with a scope. */
  readonly token?: Pick<Token, "verbs"> | undefined
}

/**
 * The space that a request writes to. It is created on demand if the configuration allows that, and a token of the request has the verb
 * `admin`.
 */
export const find = (kernel: Kernel["Service"], name: string, { check = () => {}, runner, token }: Creation): Space | Promise<Space> => {
  const opened = kernel.opened(name)
  if (opened !== undefined) return opened
  const known = kernel.space(name, { create: false })
  const mayCreate = token === undefined || token.verbs.includes("admin")
  return runner.promise(mayCreate
    ? Effect.catchIf(known, ({ code }) => code === "space/unknown", () => Effect.andThen(Effect.sync(check), kernel.space(name)))
    : known)
}
