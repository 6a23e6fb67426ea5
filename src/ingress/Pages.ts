/**
 * Pages of HTML that a project renders from its cells.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Kernel } from "../kernel/Kernel.ts"
import type { Page } from "../loader/Config.ts"
import type { Hash } from "../persistence/Hash.ts"

/** A page shows what is on it and images of the runtime; it loads nothing from elsewhere, and runs no script but the one that it is given. */
const policy = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers = {
  "content-type": "text/html; charset=utf-8",
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
export const send = async (page: Page, kernel: Kernel["Service"], hash: Hash["Service"]): Promise<Response> => {
  const rendered = await page({ get: (space, address) => Effect.runPromise(read(kernel, space, address)) })
  if (typeof rendered === "string") return new Response(rendered, { headers: { ...headers, "content-security-policy": policy } })
  const { html, script } = rendered
  // Only this text may run: whatever the HTML takes from cells, no script of its own gets to.
  const allowed = `script-src 'sha256-${digest(script, hash)}'; connect-src 'self'`
  return new Response(`${html}<script>${script}</script>`, { headers: { ...headers, "content-security-policy": `${policy}; ${allowed}` } })
}

const digest = (text: string, hash: Hash["Service"]): string =>
  btoa(hash.hex(text).replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16))))

const read = (kernel: Kernel["Service"], name: string, address: string) =>
  kernel.space(name, { create: false }).pipe(
    Effect.flatMap((space) => space.get(address)),
    Effect.catchIf((error) => error.code === "space/unknown", () => Effect.undefined)
  )
