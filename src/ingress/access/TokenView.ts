/**
 * The view that a token has of a space.
 *
 * @module
 */
import * as Token from "../../access/Token.ts"
import type { Viewer } from "../../kernel/view/Space.ts"
import * as Label from "../../cell/Label.ts"

/**
 * The view that a token has of a space.
 */
export const viewerOf = (token: Token.Token): Viewer => {
  const known = viewers.get(token)
  if (known !== undefined) return known
  const { clearance, id, prefixes, scope } = token
  const viewer: Viewer = {
    name: Token.labelOf(id),
    of: "token",
    atoms: clearance === undefined ? "all" : Label.make(clearance),
    within: prefixes,
    scopes: scope === undefined ? undefined : [scope]
  }
  viewers.set(token, viewer)
  return viewer
}

/** The views of tokens. A change of a token is another one. */
const viewers = new WeakMap<Token.Token, Viewer>()
