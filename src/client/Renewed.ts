/**
 * The token of a page of another site, which is asked for again before it ends.
 *
 * @module
 */
import { host, type Platform } from "./Platform.ts"
import { type Problem, RequestFailed } from "./RequestFailed.ts"

/** A bearer and its end in milliseconds since 1970, as `POST /v1/session?as=token` answers. */
export interface Bearer {
  readonly token?: string
  readonly expires: number
}

/** The milliseconds before its end in which a bearer is not used any more. */
const SPARE = 60_000

/** The ages between which the end decides, in milliseconds: the clock of a page may be wrong by minutes. */
const YOUNG = 30_000
const OLD = 600_000

/**
 * Makes the function `token` of `connect()` from one that asks for a bearer, such as the server of the page. It asks again a minute
 * before the end, after 10 minutes at the latest, and when the server refuses the one that it has, such as after a rotation. Requests
 * that wait for it at the same time share one answer.
 *
 * A problem in place of a bearer is the failure of the request: with status 401, such as `auth/revoked`, streams end with it.
 *
 * @example A page of another site
 * ```ts
 * import { connect, renewed } from "systole/client"
 *
 * export const shop = connect({
 *   url: "https://shop.example",
 *   token: renewed(async () => (await fetch("/bearer", { method: "POST" })).json())
 * }).space("shop")
 * ```
 *
 * @category combinators
 * @since 0.2.0
 */
export const renewed = (
  ask: () => Promise<Bearer | Problem>,
  { now }: Pick<Platform, "now"> = host
): (refused?: string) => Promise<string | undefined> => {
  let held: (Bearer & { readonly at: number }) | undefined
  let asked: Promise<Bearer> | undefined
  const isFresh = ({ at, expires }: NonNullable<typeof held>): boolean => {
    const age = now() - at
    return age >= 0 && (age < YOUNG || (age < OLD && expires - now() > SPARE))
  }
  const again = async (): Promise<Bearer> => {
    try {
      const given = await ask()
      if ("code" in given) throw new RequestFailed(given)
      held = { ...given, at: now() }
      return given
    } finally {
      asked = undefined
    }
  }
  const isUsable = (refused: string | undefined): boolean => held !== undefined && held.token !== refused && isFresh(held)
  return async (refused) => (isUsable(refused) ? held : await (asked ??= again()))?.token
}
