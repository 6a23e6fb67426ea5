/**
 * The refusal of a credential, or of a request that is beyond its scope.
 *
 * @module
 */
import type { Code } from "../contract/Refusal.ts"

/**
 * A credential is refused. The reason depends on the credential and the request alone, so it tells nothing of what exists.
 */
export class AccessRefused extends Error {
  readonly _tag = "AccessRefused"
  override readonly name = "AccessRefused"
  readonly code: Code
  readonly reason: string

  constructor(code: Code, reason: string) {
    super(reason)
    this.code = code
    this.reason = reason
  }
}
