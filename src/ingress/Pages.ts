/**
 * Pages of HTML that a project renders from its cells.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Kernel } from "../kernel/Kernel.ts"
import type { Page } from "../loader/Config.ts"

/** A page shows what is on it and images of the runtime; it runs no script and loads nothing from elsewhere. */
const policy = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store"
}

/**
 * The answer that holds a page.
 *
 * @category constructors
 * @since 0.1.0
 */
export const send = async (page: Page, kernel: Kernel["Service"]): Promise<Response> => {
  const html = await page({ get: (space, address) => Effect.runPromise(read(kernel, space, address)) })
  return new Response(html, { headers })
}

const read = (kernel: Kernel["Service"], name: string, address: string) =>
  kernel.space(name, { create: false }).pipe(
    Effect.flatMap((space) => space.get(address)),
    Effect.catchIf((error) => error.code === "space/unknown", () => Effect.undefined)
  )
