/**
 * A page of a server without a browser: its own script over real HTTP, in the document of jsdom.
 *
 * @module
 */
import { createHash } from "node:crypto"

/** The used part of jsdom. Its declarations are a package of their own. */
interface Jsdom {
  readonly JSDOM: new(html: string, options: { readonly url: string; readonly runScripts: "outside-only" }) => {
    readonly window: Pick<Window, "document" | "close"> & { readonly eval: (script: string) => unknown }
  }
}

const NAME: string = "jsdom"

/** An open page. */
export interface Page {
  /** The text of the element with an id. Cells of a table are apart by a space. */
  readonly text: (id: string) => string
  /** Clicks the first button with a text. */
  readonly click: (button: string) => void
  /** Ends its requests. */
  readonly close: () => void
}

/** The parts of a browser that jsdom leaves out, or has in a form that the host's `fetch` does not take. */
const parts = { AbortController, AbortSignal, ReadableStream, TextDecoder, TextEncoder, Blob }

/** Opens a page. Its script runs if the policy of the answer allows it, as in a browser. */
export const open = async (url: string): Promise<Page> => {
  const answer = await fetch(url)
  const html = await answer.text()
  const [, script = ""] = /<script type="module">([^]*)<\/script>/.exec(html) ?? []
  const allowed = `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  if (answer.headers.get("content-security-policy")?.includes(allowed) !== true) throw new Error("the policy forbids the script")
  const closing = new AbortController()
  const { JSDOM } = await import(NAME) as Jsdom
  const { window } = new JSDOM(html, { url, runScripts: "outside-only" })
  const here = (path: string, init: RequestInit) =>
    fetch(new URL(path, url), { ...init, signal: AbortSignal.any([closing.signal, ...init.signal ? [init.signal] : []]) })
  Object.assign(window, parts, { fetch: here })
  // jsdom runs no modules.
  window.eval(`(async () => {${script}\n})()`)
  const { document } = window
  return {
    text: (id) => {
      const element = document.getElementById(id)
      const cells = Array.from(element?.querySelectorAll("td") ?? [], ({ textContent }) => textContent)
      return cells.length > 0 ? cells.join(" ") : element?.textContent ?? ""
    },
    click: (button) => Array.from(document.querySelectorAll("button")).find(({ textContent }) => textContent === button)?.click(),
    close: () => {
      closing.abort()
      window.close()
    }
  }
}
