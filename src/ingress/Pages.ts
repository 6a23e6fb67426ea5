/**
 * HTML pages that a project renders from its cells.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Cell from "../cell/Cell.ts"
import type { Value } from "../cell/Value.ts"
import type { CellHeld } from "../kernel/model/SpaceError.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { ReadError } from "../kernel/view/Expected.ts"
import type { Render } from "../loader/Page.ts"
import type { Hash } from "../persistence/Hash.ts"
import { isView } from "../stage/View.ts"
import type { Runner } from "./wire/Runner.ts"

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

/** The services of a page: its reads, and the hash of its script. */
export interface Services {
  /** Reads a cell; `wait` is the rest of the page's time, in milliseconds. Resolves to `undefined` for an absent cell or space. */
  readonly read: (read: { readonly space: string; readonly address: string; readonly wait: number }) => Effect.Effect<Value, unknown>
  readonly hash: Hash["Service"]
  readonly runner: Runner
}

/**
 * Renders a page and answers with it.
 */
export const send = async (page: Render, { hash, read, runner }: Services, signal: AbortSignal): Promise<Response> => {
  const end = runner.now() + MAX_WAIT
  const stored = (space: string, address: string) => Effect.flatMap(Clock.currentTimeMillis, (now) =>
    read({ space, address, wait: Math.max(0, end - now) }))
  const get = (space: string, place: Cell.Place) =>
    Cell.read(place, (address) => runner.promise(stored(space, address), { signal }))
  const rendered = await page({ get: get as Cell.Reading<[space: string]> })
  if (typeof rendered === "string") return new Response(rendered, { headers: { ...headers, "content-security-policy": policy } })
  const { html, script } = rendered
  const [text] = /<!--|<\/script/i.exec(script) ?? []
  if (text !== undefined) throw new Error(`the script of a page has the text ${text}, which HTML does not take for a script. ${advice}`)
  // Only this script may run, so values of cells in the HTML cannot inject another one.
  const allowed = `script-src 'sha256-${digest(script, hash)}'; connect-src 'self'`
  const whole = `${html}<script type="module">${script}</script>`
  return new Response(whole, { headers: { ...headers, "content-security-policy": `${policy}; ${allowed}` } })
}

const advice = "Write its first character as \\x3c within a text, or give the page a module"

const digest = (text: string, hash: Hash["Service"]): string =>
  btoa(hash.hex(text).replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16))))

/**
 * The services of a page over the spaces of a kernel. A read waits until the derivation of its cell has settled, so that no
 * page is stale. No node derives the views of the journal.
 */
export const reading = (
  { hash, kernel, runner }: { readonly kernel: Kernel["Service"]; readonly hash: Hash["Service"]; readonly runner: Runner }
): Services => ({
  hash,
  runner,
  read: ({ address, space, wait }) =>
    kernel.space(space, { create: false }).pipe(
      Effect.flatMap((found): Effect.Effect<Value, ReadError | CellHeld> =>
        isView(address) ? found.get(address) : found.pull(address, { wait })),
      Effect.catchIf((error) => error.code === "space/unknown", () => Effect.undefined)
    )
})
