/**
 * HTML pages that a project renders from its cells.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Page } from "../loader/Config.ts"
import type { Hash } from "../persistence/Hash.ts"
import { isView } from "../stage/View.ts"

/** The content security policy: inline styles and images of the runtime are allowed. Scripts are allowed by hash only. */
const policy =
  "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers = {
  "content-type": "text/html; charset=utf-8",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store"
}

/** The maximum time that a page waits in total for its reads to settle, in milliseconds. */
export const MAX_WAIT = 1000

interface Services {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
}

/**
 * Renders a page and answers with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const send = async (page: Page, { hash, kernel }: Services, signal: AbortSignal): Promise<Response> => {
  const end = Effect.runSync(Clock.currentTimeMillis) + MAX_WAIT
  const rendered = await page({ get: (space, address) => Effect.runPromise(read(kernel, { space, address, end }), { signal }) })
  if (typeof rendered === "string") return new Response(rendered, { headers: { ...headers, "content-security-policy": policy } })
  const { html, script } = rendered
  // Only this script may run, so values of cells in the HTML cannot inject another one.
  const allowed = `script-src 'sha256-${digest(script, hash)}'; connect-src 'self'`
  return new Response(`${html}<script>${script}</script>`, { headers: { ...headers, "content-security-policy": `${policy}; ${allowed}` } })
}

const digest = (text: string, hash: Hash["Service"]): string =>
  btoa(hash.hex(text).replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16))))

interface Read {
  readonly space: string
  readonly address: string
  /** The deadline of the page, in milliseconds since 1970. */
  readonly end: number
}

/** Reads a cell after its derivation has settled, so that no page is stale. No node derives the views of the journal. */
const read = (kernel: Kernel["Service"], { address, end, space }: Read) =>
  Effect.gen(function*() {
    const found = yield* kernel.space(space, { create: false })
    if (isView(address)) return yield* found.get(address)
    return yield* found.pull(address, { wait: Math.max(0, end - (yield* Clock.currentTimeMillis)) })
  }).pipe(Effect.catchIf((error) => error.code === "space/unknown", () => Effect.undefined))
